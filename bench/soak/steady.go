//go:build linux

package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// The thresholds of what a sample may show.
const (
	// mostGrowth is the maximum growth of resident memory, in MiB per minute. The
	// table of chunk states grows by 4 bytes for each chunk that is handed out,
	// until their numbers begin again after 64 GiB: at the 60 MB/s of this
	// recording 0.2 MiB a minute, at most 4 MiB in all. Anything that was
	// forgotten per chunk, be it a word, comes on top, and is seen; what was
	// forgotten per scope would be a hundred times that.
	mostGrowth = 0.4
	// judgedFor is the minimum duration of readings for that: in less, one step of the
	// window, or of the garbage collector's heap, is a slope.
	judgedFor = 3 * time.Minute
	// mostResident is the must of make bench for a million scopes a second, with
	// the ledger that we share.
	mostResident = 96<<20 + 16<<20
	// otherMappings are those of the program itself, its heap's and the ledger's.
	// The ring can take two for each of its chunks: one where it is, one where it
	// was.
	otherMappings = 500
)

// steady is the watched writer, with its samples.
type steady struct {
	c       *child
	begin   time.Time
	last    sample
	rss     []reading // in MiB, after the first minute
	anon    []reading // the heap's part of it
	most    sample    // the largest of each
	tight   int64     // minimum distance from the bound on disk, bytes
	samples int
	span    time.Duration
	growth  slope
	sure    bool // growth is one
	rate    float64
	totals  totals
	check   checked
}

// totals has the fates of the records.
type totals struct{ issued, recorded, overwritten, lost, window, behind int64 }

// sample is taken once a second.
type sample struct {
	onDisk
	process
	issued int64
}

// steady runs the writer until ctx ends, with u at work if that is not nil, and checks what it left. It returns nil
// if there was nothing to look at.
func (s *soak) steady(ctx context.Context, victims *toll, u *tools) *steady {
	var args []string
	if u != nil {
		args = []string{"-trigger", u.trigger}
	}
	c, err := startWriter(filepath.Join(s.dir, "steady.scope"), s.ring, s.rate, 16, args...)
	if err != nil {
		s.fail("the steady writer: %v", err)
		return nil
	}
	defer c.close()
	if u != nil {
		u.begin(ctx, c.path)
		defer func() { u.end(c.snapshots.Load()) }()
	}
	st := &steady{c: c, begin: time.Now(), tight: s.ring}
	each := time.NewTicker(time.Second)
	defer each.Stop()
	minute := time.Minute
	for running := true; running; {
		select {
		case <-ctx.Done():
			running = false
		case <-each.C:
			running = s.sample(st)
		}
		if past := time.Since(st.begin); past >= minute {
			minute += time.Minute
			st.line(victims, s.ring)
		}
	}
	if c.died() {
		s.fail("the steady writer ended by itself: %v: %s", c.err, c.last())
		return st
	}
	st.span = time.Since(st.begin)
	if err := c.finish(); err != nil {
		s.fail("the steady writer: %v", err)
		return st
	}
	s.closing(st)
	return st
}

// sample takes a sample; false if the writer is gone.
func (s *soak) sample(st *steady) bool {
	past := time.Since(st.begin)
	now := sample{}
	var err error
	if now.process, err = lookAt(st.c.cmd.Process.Pid); err == nil {
		now.onDisk, err = look(st.c.path)
	}
	if st.c.died() {
		return false
	}
	if err != nil {
		s.fail("at %v the steady writer could not be looked at: %v", past.Round(time.Second), err)
		return true
	}
	st.samples++
	left := now.bound(s.ring) - max(now.blocks, now.size)
	st.tight = min(st.tight, left)
	if left < 0 {
		s.fail("at %v the file takes %d bytes, and is %d long: of a ring of %d with %d kept chunks at most %d are promised",
			past.Round(time.Second), now.blocks, now.size, s.ring, now.kept, now.bound(s.ring))
	}
	if most := otherMappings + int(2*s.ring/format.ChunkSize); now.mappings > most {
		s.fail("at %v there are %d mappings, more than %d", past.Round(time.Second), now.mappings, most)
	}
	if now.rss > mostResident {
		s.fail("at %v %d MiB are resident, more than %d", past.Round(time.Second), now.rss>>20, mostResident>>20)
	}
	if past > min(time.Minute, s.span/3) {
		st.rss = append(st.rss, reading{past, mib(now.rss)})
		st.anon = append(st.anon, reading{past, mib(now.anon)})
	}
	for w := range workers {
		now.issued += int64(st.c.workers[w].ended.Load())
	}
	st.last = now
	m := &st.most
	m.blocks, m.size, m.kept = max(m.blocks, now.blocks), max(m.size, now.size), max(m.kept, now.kept)
	m.rss, m.mappings = max(m.rss, now.rss), max(m.mappings, now.mappings)
	return true
}

// closing checks what was recorded when the writer has ended.
func (s *soak) closing(st *steady) {
	c := st.c
	n := totals{c.issued.Load(), c.recorded.Load(), c.overwritten.Load(), c.lost.Load(), c.lostWindow.Load(), c.behind.Load()}
	st.totals = n
	if sum := n.recorded + n.overwritten + n.lost; sum != n.issued {
		s.fail("%d records were issued; %d recorded, %d overwritten and %d lost are %d", n.issued, n.recorded, n.overwritten, n.lost, sum)
	}
	if there, err := countRecords(c.path); err != nil {
		s.fail("the steady trace: %v", err)
	} else if there != n.recorded {
		s.fail("the steady trace has %d records, Stats says %d", there, n.recorded)
	}
	if s.tools && n.lost > 0 {
		s.fail("the steady writer lost %d records: %s", n.lost, lossesOf(c.path))
	}
	st.rate = float64(n.issued) / st.span.Seconds() / 1e6
	var ok bool
	if st.growth, ok = slopeOf(st.rss); ok && st.rss[len(st.rss)-1].at-st.rss[0].at >= judgedFor {
		st.sure = true
		if st.growth.perMinute-st.growth.uncertain > mostGrowth {
			s.fail("resident memory grows by %.2f ± %.2f MiB a minute, more than %v", st.growth.perMinute, st.growth.uncertain, mostGrowth)
		}
	}
	s.whole(c, true, &st.check)
}
