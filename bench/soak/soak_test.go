//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/scope"
)

// TestMain lets the test binary be the writer that startWriter starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-write" {
		main()
		return
	}
	os.Exit(shmtest.Run(m.Run))
}

// killed is a writer that was killed after its ring went round twice.
func killed(t *testing.T, rate int, every uint64) *child {
	t.Helper()
	const ring = 4 << 20
	c, err := startWriter(filepath.Join(t.TempDir(), "killed.scope"), ring, rate, every)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		d, err := look(c.path)
		if err == nil && d.state.Overwritten > 2*ring/32 {
			break
		}
		if c.died() || time.Now().After(deadline) {
			c.kill()
			t.Fatalf("the ring does not go round: %+v, %v: %v: %s", d, err, c.err, c.last())
		}
	}
	c.kill()
	return c
}

func TestWhatIsKilledIsWhole(t *testing.T) {
	for name, rate := range map[string]int{"paced": 1_000_000, "full speed": 0} {
		t.Run(name, func(t *testing.T) {
			s := soak{verdicts: verdicts{keep: t.TempDir()}}
			var sum checked
			// On a busy machine a writer at full speed may have lost all that it did
			// since its ring was overwritten last.
			for try := 0; try < 5 && (sum.promised == 0 || sum.timed == 0); try++ {
				s.whole(killed(t, rate, 16), false, &sum)
			}
			for _, v := range s.list() {
				t.Error(v)
			}
			if sum.promised == 0 || sum.timed == 0 || sum.over == 0 {
				t.Errorf("nothing was compared: %s", &sum)
			}
		})
	}
}

// TestWhatIsWrongIsFound changes what the ledger says, or the trace.
func TestWhatIsWrongIsFound(t *testing.T) {
	c := killed(t, 1_000_000, 16)
	if _, err := hot.Adopt(func() bool { return true }); err != nil { // or what is changed in the file is not what is read
		t.Fatal(err)
	}
	a := &c.workers[0]
	last := a.ended.Load() - 1
	for !a.kept(last) {
		last--
	}
	ended, begun := a.ended.Load(), a.begun.Load()
	timed := last - last%a.every
	for !a.kept(timed) {
		timed -= a.every
	}
	m := &a.times[timed/a.every%timesKept]
	for _, w := range []struct {
		name   string
		change func()
		undo   func()
		want   string
	}{
		{"a step that is not there", func() {
			a.ended.Store(ended + 1000)
			a.begun.Store(ended + 1000)
			for n := ended; n < ended+1000; n++ {
				a.fate[n%remembered].Store(n<<2 | keptBit)
			}
		}, func() { a.ended.Store(ended); a.begun.Store(begun) }, "is not there"},
		{"a step that was lost", func() { a.fate[last%remembered].Store(last << 2) },
			func() { a.fate[last%remembered].Store(last<<2 | keptBit) }, "was lost, and is there"},
		{"a step that was not begun", func() { a.begun.Store(last - 100) }, func() { a.begun.Store(begun) }, "that began"},
		{"another time", func() { m.t0, m.t1, m.t2, m.t3 = m.t0+9e6, m.t1+9e6, m.t2+9e6, m.t3+9e6 },
			func() { m.t0, m.t1, m.t2, m.t3 = m.t0-9e6, m.t1-9e6, m.t2-9e6, m.t3-9e6 }, "ran from"},
		{"a trace that is closed", func() { flip(t, c.path, format.StateOffset) }, func() { flip(t, c.path, format.StateOffset) }, "closed is true"},
		{"a byte of a name", func() { flip(t, c.path, format.ChunkSize+format.ChunkHeaderSize+20) }, func() {}, "verify"},
	} {
		w.change()
		s := soak{verdicts: verdicts{keep: t.TempDir()}}
		s.whole(c, false, new(checked))
		if got := strings.Join(s.list(), "\n"); !strings.Contains(got, w.want) {
			t.Errorf("%s: %q is not found, but: %s", w.name, w.want, got)
		}
		w.undo()
	}
}

// flip changes the lowest bit of a byte.
func flip(t *testing.T, path string, off int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b[:], off); err != nil {
		t.Fatal(err)
	}
}

func TestAShortSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := soak{dir: t.TempDir(), span: 6 * time.Second, ring: 16 << 20, rate: 500_000, killRing: 4 << 20, kills: 1, verdicts: verdicts{keep: t.TempDir()}}
	if err := s.run(context.Background()); err != nil {
		t.Errorf("%v: %s", err, strings.Join(s.list(), "\n"))
	}
}

func TestAShortSoakOfTools(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	s := soak{dir: t.TempDir(), span: 5 * time.Second, ring: 16 << 20, rate: 50_000, tools: true, verdicts: verdicts{keep: t.TempDir()}}
	if err := s.run(context.Background()); err != nil {
		t.Errorf("%v: %s", err, strings.Join(s.list(), "\n"))
	}
}

// TestToolsThatFail: a tool that fails, and one that does nothing, are violations.
func TestToolsThatFail(t *testing.T) {
	s := soak{dir: t.TempDir(), verdicts: verdicts{keep: t.TempDir()}}
	u := &tools{s: &s, tool: "/bin/false", dir: t.TempDir(), trigger: t.TempDir()}
	ctx, stop := context.WithTimeout(context.Background(), between+between/2)
	defer stop()
	u.begin(ctx, "no.scope")
	<-ctx.Done()
	u.end(0)
	printed := strings.Join(s.list(), "\n")
	for _, want := range []string{"ctl no.scope filter", "ctl no.scope snapshot", "snapshot no.scope -o", "no address", "no filters set", "no snapshots by the trigger"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is not in %s", want, printed)
		}
	}
}

func TestSlope(t *testing.T) {
	series := func(v func(minute float64) float64) (rs []reading) {
		for i := range 540 {
			at := time.Duration(i) * time.Second
			rs = append(rs, reading{at, v(at.Minutes())})
		}
		return rs
	}
	for _, c := range []struct {
		name        string
		v           func(float64) float64
		least, most float64
	}{
		{"flat", func(float64) float64 { return 30 }, 0, 0},
		{"grows", func(m float64) float64 { return 30 + 0.5*m }, 0.499, 0.501},
		{"jumps and stays", func(float64) float64 { return 30 + 4*rand.Float64() }, -0.2, 0.2},
		{"jumps and grows", func(m float64) float64 { return 30 + m + 4*rand.Float64() }, 0.8, 1.2},
		{"one outlier", func(m float64) float64 {
			if m == 4 {
				return 300
			}
			return 30
		}, 0, 0},
	} {
		s, ok := slopeOf(series(c.v))
		if !ok || s.perMinute < c.least || s.perMinute > c.most || s.uncertain > 0.2 {
			t.Errorf("%s: %+v, %t, want from %v to %v", c.name, s, ok, c.least, c.most)
		}
	}
	if _, ok := slopeOf(series(func(float64) float64 { return 1 })[:blocks]); ok {
		t.Error("too few readings have a slope")
	}
}

func TestCountRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.scope")
	if err := scope.Start(path); err != nil {
		t.Fatal(err)
	}
	const n = 10_000
	for i := range n {
		scope.Task("a")()
		scope.Task("b", i, "text")()
	}
	scope.Event("c")
	done := make(chan bool)
	s := scope.Begin("d")
	go func() { s.End(); done <- true }() // an end of its own
	<-done
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	if got, err := countRecords(path); got != 2*n+2 || err != nil {
		t.Errorf("%d records, %v, want %d", got, err, 2*n+2)
	}
}

func TestBound(t *testing.T) {
	// A ring of 64 MiB, the header, one kept chunk and six that are prepared; and
	// where the blocks are, for 1032 chunks.
	d := onDisk{kept: 1}
	if got, want := d.bound(64<<20), int64(64<<20+8*format.ChunkSize+19*4096); got != want {
		t.Errorf("the bound is %d, want %d", got, want)
	}
}

func TestPaceGivesUpWhatIsTooLate(t *testing.T) {
	p := pace{perMS: 100, begin: time.Now().Add(-time.Second)}
	if behind := p.wait(100); behind < 90_000 {
		t.Errorf("%d given up of 100,000 that are late", behind)
	}
	if behind := p.wait(int64(p.due)); behind != 0 {
		t.Errorf("then %d more", behind)
	}
}

func TestMonotonic(t *testing.T) {
	m := newMonotonic()
	before := clockNS()
	now := m.now()
	if after := clockNS(); now < before-1000 || now > after+1000 {
		t.Errorf("%d is not between %d and %d", now, before, after)
	}
}

func TestOnlyTheFirstViolationsArePrinted(t *testing.T) {
	var v verdicts
	for i := range 100 {
		v.fail("violation %d", i)
	}
	if list := v.list(); v.count() != 100 || len(list) != mostPrinted+1 || list[mostPrinted] != fmt.Sprintf("and %d more", 100-mostPrinted) {
		t.Errorf("%d violations: %v", v.count(), list)
	}
}
