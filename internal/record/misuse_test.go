//go:build !scope_off

package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestMisuse covers the table of the package comment: what is recorded of each
// misuse, and which counter counts it. Tables of their own are in
// TestStaleEnds, TestNames and TestCutArguments.
func TestMisuse(t *testing.T) {
	// elsewhere calls f on another goroutine.
	elsewhere := func(f func()) {
		done := make(chan bool)
		go func() { defer close(done); f() }()
		<-done
	}
	kilo := strings.Repeat("n", 1024)
	for _, c := range []struct {
		name string
		do   func()
		want []string
		n    Misuse
	}{
		{"none", func() { Task("a")() }, []string{`task "a"`}, Misuse{}},
		{"ended twice", func() {
			end := Task("a")
			end()
			end()
		}, []string{`task "a"`}, Misuse{DoubleEnds: 1}},
		{"ended three times, with arguments", func() {
			s := Begin("a")
			s.End(1)
			s.End(2)
			s.End()
		}, []string{`task "a" || int:1`}, Misuse{DoubleEnds: 2}},
		{"process ended twice", func() {
			end := Process("a")
			end()
			end()
		}, []string{`process "a"`}, Misuse{DoubleEnds: 1}},
		{"pending ended twice", func() {
			end := Pending("a")
			end()
			end()
		}, []string{`pending "a"`}, Misuse{DoubleEnds: 1}},
		{"ended on another goroutine", func() { elsewhere(Task("a")) }, []string{`task "a"`}, Misuse{ForeignEnds: 1}},
		{"ended on another goroutine, with arguments", func() {
			s := Begin("a", 1)
			elsewhere(func() { s.End(2) })
		}, []string{`task "a" | int:1 || int:2`}, Misuse{ForeignEnds: 1}},
		{"process ended on another goroutine", func() { elsewhere(Process("a", 7)) }, []string{`process "a" | int:7`}, Misuse{ForeignEnds: 1}},
		{"ended on another goroutine, and again", func() {
			end := Task("a")
			elsewhere(end)
			end()
			elsewhere(end)
		}, []string{`task "a"`}, Misuse{ForeignEnds: 1, DoubleEnds: 2}},
		{"ended, and again on another goroutine", func() {
			end := Task("a")
			end()
			elsewhere(end)
		}, []string{`task "a"`}, Misuse{DoubleEnds: 1}},
		{"never ended", func() { Task("a") }, []string{`task "a" open`}, Misuse{}},
		{"pending never happened", func() { Pending("a") }, []string{`pending "a" open`}, Misuse{}},
		{"process never ended", func() { Process("a") }, []string{`process "a" open`}, Misuse{}},
		{"out of order", func() {
			a, b := Task("a"), Task("b")
			a()
			b()
		}, []string{`task "a"`, `task "b" depth=1`}, Misuse{}},
		{"empty name", func() { Task("")() }, []string{`task ""`}, Misuse{}},
		{"not UTF-8", func() { Task("a\xff\x00b")() }, []string{`task "a\xff\x00b"`}, Misuse{}},
		{"1 KiB name", func() { Task(kilo)() }, []string{`task "` + kilo + `"`}, Misuse{}},
		{"more than 1 KiB of name", func() { Task(kilo + "more")() }, []string{`task "` + kilo + `"`}, Misuse{}},
		{"1 MiB name", func() { Task(strings.Repeat("n", 1<<20))() }, []string{`task "` + kilo + `"`}, Misuse{}},
		{"1 MiB key and row", func() {
			Event("e", KV(strings.Repeat("n", 1<<20), 1))
			Track(strings.Repeat("n", 1<<20))
		}, []string{`event "e" | ` + kilo + `=int:1`, `track "` + kilo + `" track="` + kilo + `"`}, Misuse{}},
		{"1 MiB string", func() { Task("a", strings.Repeat("s", 1<<20))() },
			[]string{`task "a" | string:1024 of 1048576 bytes`}, Misuse{ArgsCut: 1}},
		{"zero Span", func() { Span{}.End(); Span{}.End(1) }, nil, Misuse{}},
		{"nil option of Go", func() {
			done := make(chan bool)
			Go("", func() { close(done) })
			<-done
		}, []string{`go ""`}, Misuse{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				start(t, backing)
				c.do()
				r := stop(t)
				if got := r.lines(); !slices.Equal(got, c.want) {
					t.Errorf("recorded\n%q, want\n%q", got, c.want)
				}
				if n := Stats().Misuse; n != c.n {
					t.Errorf("counted %+v, want %+v", n, c.n)
				}
				if lost := Stats().Lost; lost != (Lost{}) {
					t.Errorf("lost %+v", lost)
				}
				if c.n.ForeignEnds > 0 {
					if e := r.events[0]; e.EndGoid == 0 || e.EndGoid == e.Goid || e.Quality != 0 && e.Kind.String() == "task" {
						t.Errorf("goroutine %d began it, %d ended it, CPU time is %v", e.Goid, e.EndGoid, e.Quality)
					}
				}
			})
		})
	}
}

// TestStaleEnds ends scopes of every kind after their recording.
func TestStaleEnds(t *testing.T) {
	var mu taken
	begin := func() (ends []func()) {
		s := Begin("span")
		return []func(){
			Task("a"), Task("b", 1), Process("c"), Pending("d"), Lock(&mu, "l"),
			func() { s.End() }, func() { s.End("late") },
		}
	}
	const began = 6 // records: the span has two ends
	end := func(ends []func()) {
		for _, e := range ends {
			e()
		}
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		ends := begin()
		r := stop(t)
		want := []string{`task "span" open`, `task "a" depth=1 open`, `task "b" depth=2 open | int:1`,
			`process "c" depth=3 open`, `pending "d" depth=4 open`, `wait "l" depth=4 | addr goid:0 uint:2`, `hold "l" depth=4 open | addr goid:0 uint:2`}
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("recorded\n%q, want\n%q", got, want)
		}
		end(ends)
		if got := Stats().Misuse; got != (Misuse{StaleEnds: began + 1}) {
			t.Errorf("after Stop counted %+v, want %d stale ends", got, began+1)
		}
		again := read(t, Path())
		if got := again.lines(); !slices.Equal(got, want) {
			t.Errorf("ends after Stop changed the trace to %q", got)
		}

		start(t, backing)
		live := Task("live")
		end(ends)
		live()
		r = stop(t)
		if got, want := r.lines(), []string{`task "live"`}; !slices.Equal(got, want) {
			t.Errorf("the new recording has %q, want %q", got, want)
		}
		if got := Stats().Misuse; got != (Misuse{StaleEnds: began + 1}) {
			t.Errorf("after a new Start counted %+v, want %d stale ends", got, began+1)
		}
	})
}

// TestStaleEndsAcrossBackings ends scopes begun on one path while another
// records: in a handle of one, Loc is an address, in the other's an offset.
func TestStaleEndsAcrossBackings(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("this build has the heap backing alone")
	}
	var ends []func()
	for i, b := range []BackingKind{HeapBacking, DiskBacking, HeapBacking, DiskBacking} {
		start(t, WithBacking(b))
		live := Task("live")
		for _, e := range ends {
			e()
		}
		live()
		ends = append(ends, Task("stale"), Process("stale"))
		r := stop(t)
		if got, want := r.lines(), []string{`task "live"`, `task "stale" open`, `process "stale" depth=1 open`}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
		if got := Stats().Misuse; got != (Misuse{StaleEnds: int64(2 * i)}) {
			t.Errorf("counted %+v, want %d stale ends", got, 2*i)
		}
	}
}
