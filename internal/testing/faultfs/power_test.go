//go:build linux && !scope_off

package faultfs_test

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

const (
	powerWorkers = 2
	powerBurst   = 32
	powerText    = "each record is one of its own"
)

// powerFS is a file system whose power is cut.
type powerFS struct {
	name, kind, options string
	mkfs                []string
	stale               bool // by its nature files may have blocks of others after a power failure
}

var powerFileSystems = []powerFS{
	{"ext4", "ext4", "commit=2", []string{"-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"}, false},
	{"ext4, data=writeback, nodelalloc", "ext4", "data=writeback,nodelalloc,commit=2", []string{"-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"}, true},
	{"xfs", "xfs", "nouuid", []string{"-q"}, false},
}

// moment has the scopes that had begun when the disk's log had a length.
type moment struct {
	log   int
	at    time.Time
	begun [][powerWorkers]uint64 // by victim
}

// powered is a disk whose power is cut, with the victims that record on it.
type powered struct {
	powerFS
	disk      *faultfs.LogDisk
	victims   []*victim.Victim
	started   time.Time     // when all recorded
	slow      time.Duration // the longest that the disk took to flush a line
	moments   []moment
	log       []faultfs.DiskWrite
	byMessage map[string]int // number of traces by message

	opened, closed, shown, between, last int // traces; scopes that are there, are missing between others, and behind them
	mixed                                int // records of two, where files may have blocks of others
}

// TestG18 cuts the power of a disk with a volatile cache: of what was written since the
// last flush that was done nothing is left, or all, or a part, in which what was written
// later may be there and what was earlier not. A trace opens whose file was there a
// while, shows only what was issued, each once, and says so where something is missing.
func TestG18(t *testing.T) {
	quiet(t)
	was := trace.Booted
	trace.Booted = func() string { return "after the power failure" } // the machine was started since
	t.Cleanup(func() { trace.Booted = was })
	for _, fs := range powerFileSystems {
		t.Run(fs.name, func(t *testing.T) {
			if !faultfs.Full() && fs.name != "ext4" {
				t.Skip("in full only")
			}
			p := &powered{powerFS: fs, byMessage: map[string]int{}}
			p.record(t)
			p.cutAll(t)
		})
	}
}

// record fills the log.
func (p *powered) record(t *testing.T) {
	size, during := int64(64<<20), 1500*time.Millisecond
	if faultfs.Full() {
		size, during = 320<<20, 40*time.Second // the kernel writes out what is older than 30 s
	}
	p.disk = faultfs.NewLogDisk(t, size)
	fs := p.disk.Format(t, p.kind, p.options, p.mkfs...)
	for _, c := range p.configs(fs.Dir) {
		p.victims = append(p.victims, victim.Start(t, c))
		p.look()
	}
	p.started = time.Now()
	other, err := os.Create(filepath.Join(fs.Dir, "other")) // a neighbour wants its data on the disk
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	synced := time.Now()
	for time.Since(p.started) < during {
		p.look()
		if time.Since(synced) > during/12 {
			fmt.Fprintln(other, "a line")
			began := time.Now()
			if err := other.Sync(); err != nil {
				t.Error(err)
			}
			synced = time.Now()
			p.slow = max(p.slow, synced.Sub(began))
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.look()
	p.log = p.disk.Log()
	for _, v := range p.victims {
		hot := v.Hot()
		v.Kill(t)
		if hot != "" {
			os.Remove(hot) // as memory is without power
		}
	}
}

func (p *powered) configs(dir string) (all []victim.Config) {
	for i, backing := range backings() {
		for j, kind := range []string{"linear", "ring", "segments"} {
			if !faultfs.Full() && i != j {
				continue
			}
			c := victim.Config{
				Path: filepath.Join(dir, backing+"-"+kind+".scope"), Backing: backing, Workers: powerWorkers, Work: "powered",
				Burst: powerBurst, Pause: 10 * time.Millisecond, FlushEvery: time.Second, Patience: 2 * time.Minute,
			}
			if !faultfs.Full() {
				c.FlushEvery, c.Pause = 100*time.Millisecond, time.Millisecond
			}
			if c.Segments = kind == "segments"; kind != "linear" {
				c.Ring = 4 << 20
			}
			all = append(all, c)
		}
	}
	return all
}

// poweredWork records scopes with unique arguments, and their begins.
func poweredWork(w *victim.Worker) {
	for n := uint64(0); !w.Stopped(); n++ {
		w.Begun(n)
		s := scope.Begin(victim.Name, w.Me, int(n), powerSum(w.Config.Path, w.Me, n), int(time.Now().UnixNano()), powerText)
		kept := s != (scope.Span{})
		w.Kept(kept)
		s.End()
		w.Ended(n, kept)
		if n%powerBurst == powerBurst-1 {
			time.Sleep(w.Pause)
		}
	}
}

func powerSum(path string, w int, n uint64) int {
	return int(crc32.ChecksumIEEE(fmt.Append(nil, filepath.Base(path), w, n)))
}

// look notes what was begun, and how much was written.
func (p *powered) look() {
	m := moment{at: time.Now(), log: len(p.disk.Log())}
	for _, v := range p.victims { // after the log: it is no more than what the log can have
		var b [powerWorkers]uint64
		for w := range b {
			b[w] = v.BegunBy(w)
		}
		m.begun = append(m.begun, b)
	}
	p.moments = append(p.moments, m)
}

// cutAll cuts at many places of the log.
func (p *powered) cutAll(t *testing.T) {
	n := 8
	if faultfs.Full() {
		n = 200
	}
	rnd := rand.New(rand.NewPCG(18, 18))
	var cuts []int
	from := p.moments[0].log
	for len(cuts) < n {
		c := from + rnd.IntN(len(p.log)-from) + 1
		if len(cuts)%4 == 3 { // right behind a flush
			for c < len(p.log) && !p.log[c-1].Flush() {
				c++
			}
		}
		cuts = append(cuts, c)
	}
	slices.Sort(cuts)
	base, done := make([]byte, p.disk.Size()), 0
	for i, c := range cuts {
		flushed := c
		for flushed > 0 && !p.log[flushed-1].Flush() {
			flushed--
		}
		for ; done < flushed; done++ {
			copy(base[p.log[done].Off:], p.log[done].Data)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { p.cut(t, base, i, flushed, c) })
	}
	line := fmt.Sprintf("%s: %d cuts of a log of %d writes: %d traces opened, %d had nothing on the disk yet; %d scopes are there as they were issued, %d are made of pages of two, %d are missing between others and %d behind; problems: %v",
		p.name, n, len(p.log), p.opened, p.closed, p.shown, p.mixed, p.between, p.last, p.byMessage)
	if p.mixed > 0 {
		line = "not given: " + line
	}
	t.Log("G18: " + line)
}

// shares are the kept shares of the writes that were not flushed.
var shares = []float64{0, 1, .5, .9, .1}

// cut looks at what is there of the disk.
func (p *powered) cut(t *testing.T, base []byte, i, flushed, c int) {
	rnd := rand.New(rand.NewPCG(uint64(i), 1))
	share := shares[i%len(shares)]
	d := faultfs.CutDisk(t, base, p.log[flushed:c], func() bool { return rnd.Float64() < share })
	fs := d.Mount(t, p.kind, p.options)
	after := slices.IndexFunc(p.moments, func(m moment) bool { return m.log >= c })
	if after < 0 {
		t.Fatalf("cut %d of %d", c, len(p.log))
	}
	before := slices.IndexFunc(p.moments, func(m moment) bool { return m.log >= flushed })
	named := p.moments[max(before-1, 0)].at.Sub(p.started)
	for v := range p.victims {
		p.examine(t, fs, v, &p.moments[min(after+1, len(p.moments)-1)], named, fmt.Sprintf("cut %d (%d behind a flush, %v of it there), %.1f s after the start", c, c-flushed, share, named.Seconds()))
	}
}

// examine looks at a victim's trace.
func (p *powered) examine(t *testing.T, fs *faultfs.FS, i int, m *moment, named time.Duration, what string) {
	v := p.victims[i]
	name := filepath.Base(v.Config.Path)
	what = name + ": " + what
	var begun [powerWorkers]uint64
	if i < len(m.begun) {
		begun = m.begun[i]
	}
	tr, err := trace.OpenFile(filepath.Join(fs.Dir, name))
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		if p.closed++; named > 2*v.FlushEvery+time.Second+2*p.slow {
			t.Errorf("%s: %s", what, why)
		}
		return
	}
	defer tr.Close()
	p.opened++
	found := [powerWorkers]map[uint64]bool{{}, {}}
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if tr.Name(e.Name) != victim.Name {
			return true
		}
		if len(e.Args) != 5 {
			return true // the page with its arguments did not get there
		}
		w, n := int(e.Args[0].Value), e.Args[1].Value
		wrong := ""
		switch {
		case w >= powerWorkers || string(e.Args[4].Str) != powerText || powerSum(name, w, n) != int(e.Args[2].Value):
			wrong = fmt.Sprintf("a record has the arguments %+v", e.Args)
		case n >= begun[w]:
			wrong = fmt.Sprintf("there is a scope %d of worker %d, of which %d were begun", n, w, begun[w])
		case found[w][n]:
			wrong = fmt.Sprintf("scope %d of worker %d is there twice", n, w)
		case tr.Wall(e.Start).Sub(time.Unix(0, int64(e.Args[3].Value))).Abs() > 2*time.Second:
			wrong = fmt.Sprintf("scope %d of worker %d is shown at %v, began at %v", n, w, tr.Wall(e.Start), time.Unix(0, int64(e.Args[3].Value)))
		case !e.Open && e.Dur > int64(2*time.Second):
			wrong = fmt.Sprintf("scope %d of worker %d took %v", n, w, time.Duration(e.Dur))
		default:
			found[w][n] = true
			p.shown++
			return true
		}
		if p.stale {
			p.mixed++
			return true
		}
		t.Errorf("%s: %s", what, wrong)
		return !t.Failed()
	}); err != nil {
		t.Error(err)
	}
	missing, lateMissing := 0, 0
	for w := range found {
		all := slices.Sorted(maps.Keys(found[w]))
		if len(all) == 0 {
			lateMissing += int(begun[w])
			continue
		}
		first := all[0]
		if v.Ring == 0 {
			first = 0
		}
		missing += int(all[len(all)-1]-first+1) - len(all)
		lateMissing += int(begun[w] - all[len(all)-1])
	}
	problems := tr.Problems()
	for _, q := range problems {
		p.byMessage[q.Text]++
	}
	if _, all := tr.LossesUntil(); missing > 0 && len(problems) == 0 && all {
		t.Errorf("%s: %d scopes are missing between others, and it does not say so", what, missing)
	}
	if tr.Closed() {
		t.Errorf("%s: the trace says that it was closed", what)
	}
	p.between, p.last = p.between+missing, p.last+lateMissing
}
