//go:build linux && !scope_off

package faultfs_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/faultfs/victim"
	"github.com/scopeview/scopeview/internal/trace"
)

const powerWorkers = 4

// moment is what the workers had done by then.
type moment struct {
	at   time.Time
	kept [powerWorkers]uint64
}

// powered is a victim whose power will be cut.
type powered struct {
	*victim.Victim
	fs      *faultfs.FS
	hot     string // its file in memory; empty: none
	moments []moment
	cut     time.Time
}

// TestG18 cuts the power, early and late: of the file system is left what had reached
// the device, as its journal tells; of what was in memory, nothing. What is there must
// have been issued. How much is missing is measured, since nobody asks the disk to
// write at once: it would be given if all that is older than a tick and a second were
// there, on every backing, each time.
func TestG18(t *testing.T) {
	quiet(t)
	cuts := []time.Duration{2600 * time.Millisecond} // between two ticks
	if faultfs.Full() {
		cuts = append(cuts, 45600*time.Millisecond) // the kernel writes out what is older than 30 s
	}
	var lines []string
	given := true
	for _, after := range cuts {
		for _, p := range cutPower(t, after) {
			line, ok := p.examine(t, after)
			lines, given = append(lines, line), given && ok
		}
	}
	for _, line := range lines {
		if !given {
			line = "not given: " + line
		}
		t.Log("G18: " + line)
	}
}

// cutPower cuts that of a victim on each backing.
func cutPower(t *testing.T, after time.Duration) (all []*powered) {
	t.Helper()
	for _, backing := range backings() {
		p := &powered{fs: faultfs.Ext4(t, 256<<20, "commit=5")}
		p.Victim = victim.Start(t, victim.Config{
			Path: in(p.fs), Backing: backing, Workers: powerWorkers, Pause: 10 * time.Millisecond, FlushEvery: time.Second,
			Patience: 2 * time.Minute,
		})
		if p.hot = p.Hot(); p.hot == "" && backing == "shm" {
			t.Fatal("the victim has no file in memory")
		}
		all = append(all, p)
	}
	begin := time.Now()
	all[0].Until(t, "some time to pass", func() bool {
		for _, p := range all {
			p.look()
		}
		return time.Since(begin) > after
	})
	for _, p := range all {
		p.look()
		p.fs.Shutdown(t, faultfs.PowerCut)
		p.cut = time.Now()
		p.Kill(t)
		if p.hot != "" {
			os.Remove(p.hot) // as memory is without power
		}
	}
	for _, p := range all {
		p.fs.Remount(t)
	}
	return all
}

// look notes what the workers have done, ten times a second.
func (p *powered) look() {
	m := moment{at: time.Now()}
	if n := len(p.moments); n > 0 && m.at.Sub(p.moments[n-1].at) < 100*time.Millisecond {
		return
	}
	for w := range m.kept {
		m.kept[w] = p.KeptEndedBy(w)
	}
	p.moments = append(p.moments, m)
}

// examine reads what is left of the trace, and tells how old the oldest scope is that
// is missing, and whether all is there that is older than a tick and a second.
func (p *powered) examine(t *testing.T, after time.Duration) (line string, ok bool) {
	t.Helper()
	tr, err := trace.OpenFile(p.Path)
	if err != nil {
		_, why, _ := strings.Cut(err.Error(), ": ")
		return fmt.Sprintf("%s: power cut after %v: %d issued, nothing can be read: %s", p.Backing, after, p.Begun(), why), false
	}
	defer tr.Close()
	var found [powerWorkers]map[uint64]bool
	for w := range found {
		found[w] = map[uint64]bool{}
	}
	n := 0
	if err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
		if len(e.Args) != 2 {
			return true // the page with its arguments did not get there, or its name
		}
		w, k := e.Args[0].Value, e.Args[1].Value
		if w >= powerWorkers || k >= p.BegunBy(int(w)) || found[w][k] {
			t.Errorf("there is a scope %d of worker %d, which was not begun, or twice", k, w)
			return false
		}
		found[w][k] = true
		n++
		return true
	}); err != nil {
		t.Error(err)
	}
	var first [powerWorkers]uint64 // the oldest that is missing
	for w := range first {
		for found[w][first[w]] {
			first[w]++
		}
	}
	age := time.Duration(0)
	for _, m := range slices.Backward(p.moments) {
		for w := range first {
			if first[w] < m.kept[w] {
				age = p.cut.Sub(m.at)
			}
		}
	}
	return fmt.Sprintf("%s: power cut after %v: %d issued, %d are there and none that was not issued; the oldest that is missing had ended %.1f s before",
		p.Backing, after, p.Begun(), n, age.Seconds()), age <= p.FlushEvery+time.Second
}
