//go:build !scope_off

package record_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// here returns the line of its call.
func here() int {
	_, _, line, _ := runtime.Caller(1)
	return line
}

type given struct{ name string }

//go:noinline
func (g given) task() int { Task(g.name)(); return here() }

func givenInlined(name string) int { Task(name)(); return here() }

//go:noinline
func givenGeneric[T Number](name string, v T) int { Counter(name, v); return here() }

//go:noinline
func givenDeferred() (line int) {
	defer func() { Event("deferred"); line = here() }()
	return 0
}

//go:noinline
func givenEnds() (line int) { line = here(); defer Task("ends")(); return line }

// TestNamesHavePlaces: the trace records the place where each name was first given, whatever
// function gave it and however that was called.
func TestNamesHavePlaces(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for range 2 { // the second recording has its own places
			start(t, backing)
			method := given{"method"}.task
			var mu sync.Mutex
			var wg sync.WaitGroup
			wg.Add(2) // each case runs twice
			cases := []struct {
				name, function string
				do             func() int
			}{
				{"direct", "func", func() int { Task("direct")(); return here() }},
				{"with %d", "func", func() int { Taskf("with %d", 1)(); return here() }},
				{"arguments", "func", func() int { Task("arguments", KV("a key", 1), "text")(); return here() }},
				{"begun", "func", func() int { Begin("begun").End(); return here() }},
				{"process", "func", func() int { Process("process")(); return here() }},
				{"pending", "func", func() int { Pending("pending")(); return here() }},
				{"event", "func", func() int { Event("event"); return here() }},
				{"stack", "func", func() int { Stack("stack", 1); return here() }},
				{"locked", "func", func() int { Lock(&mu, "locked")(); return here() }},
				{"row", "func", func() int { Track("row"); return here() }},
				{"started", "func", func() int { Go("started", wg.Done); return here() }},
				{fmt.Sprint("made up ", len(Path())), "func", func() int { Task(fmt.Sprint("made up ", len(Path())))(); return here() }},
				{"method", ".given.task", method},
				{"inlined", ".givenInlined", func() int { return givenInlined("inlined") }},
				{"generic", ".givenGeneric[...]", func() int { return givenGeneric("generic", 1.5) }},
				{"deferred", ".givenDeferred.func1", givenDeferred},
				{"ends", ".givenEnds", givenEnds},
			}
			want := map[string]int{}
			for _, c := range cases {
				want[c.name] = c.do()
				c.do() // its place is not recorded again
			}
			wg.Wait()
			named := &Mutex{Name: "of a mutex"}
			contendIn(t, stateOf(named), named, lockThere)
			tr := stop(t)
			places := givenIn(t, tr.Trace)
			for _, c := range cases {
				p, ok := places[c.name]
				if !ok || p.Line != want[c.name] || filepath.Base(p.File) != "places_test.go" || !filepath.IsAbs(p.File) ||
					!strings.Contains(p.Function, "/record_test.") || c.function != "func" && !strings.HasSuffix(p.Function, c.function) {
					t.Errorf("%q is from %+v, want %s in line %d", c.name, p, c.function, want[c.name])
				}
			}
			if p := places["of a mutex"]; !strings.HasSuffix(p.Function, ".lockThere") {
				t.Errorf("a mutex is from %+v", p)
			}
			if p, ok := places["a key"]; ok {
				t.Errorf("the key of an argument is from %+v", p)
			}
		}
	})
}

// givenIn returns the places of names that the program gave; verify has checked that there is
// one each.
func givenIn(t *testing.T, tr *trace.Trace) map[string]trace.Place {
	t.Helper()
	places := map[string]trace.Place{}
	for _, p := range tr.NamePlaces(0) {
		if _, again := places[tr.Name(p.Name)]; again {
			t.Errorf("%q has two places", tr.Name(p.Name))
		}
		places[tr.Name(p.Name)] = p
	}
	return places
}

// TestPlacesAtOnce: if several goroutines give a name for the first time at once, one place is
// recorded.
func TestPlacesAtOnce(t *testing.T) {
	start(t)
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			<-begin
			for i := range 200 {
				Task(fmt.Sprint("name ", i))()
			}
		})
	}
	close(begin)
	wg.Wait()
	if n := len(givenIn(t, stop(t).Trace)); n != 200 {
		t.Errorf("200 names have %d places", n)
	}
}

// TestPlacesOfMany: the number of places of names that a program composes is limited.
func TestPlacesOfMany(t *testing.T) {
	const more = 100
	start(t, WithRing(ringSize()), WithFlushEvery(20*time.Millisecond))
	for i := range record.MaxPlaces + more {
		Event(fmt.Sprint("name ", i))
		if i%200 == 199 {
			time.Sleep(time.Millisecond) // otherwise there is no room for so many names
		}
	}
	tr := stop(t)
	if n := len(tr.NamePlaces(0)); n > record.MaxPlaces-format.FirstName || n < record.MaxPlaces/2 {
		t.Errorf("%d places of %d names", n, len(tr.Names()))
	}
}

// TestPlacesStayInARing: a ring does not overwrite the places of names.
func TestPlacesStayInARing(t *testing.T) {
	for name, opt := range map[string]Option{"ring": WithRing(4 << 20), "segments": WithSegments(1<<20, 4)} {
		t.Run(name, func(t *testing.T) {
			start(t, opt, WithFlushEvery(10*time.Millisecond))
			line := givenInlined("early")
			for late := time.Now().Add(time.Minute); Stats().Overwritten == 0 && time.Now().Before(late); {
				for range 200 {
					Task("step")()
				}
				time.Sleep(200 * time.Microsecond) // otherwise there is no room for so many steps
			}
			tr := stop(t)
			if tr.Overwritten().Records == 0 {
				t.Fatal("nothing was overwritten")
			}
			if p := givenIn(t, tr.Trace)["early"]; p.Line != line {
				t.Errorf("early is from %+v", p)
			}
		})
	}
}

// contendIn makes another goroutine wait for l in a call of lock.
func contendIn(t *testing.T, state *record.LockState, l sync.Locker, lock func(sync.Locker)) {
	t.Helper()
	l.Lock()
	var wg sync.WaitGroup
	wg.Go(func() {
		lock(l)
		l.Unlock()
	})
	until(t, "somebody to wait", func() bool { return waiters(state) == 1 })
	l.Unlock()
	wg.Wait()
}

// TestPlacesAreRecorded: each recording has the full path of a place once, with the kind of the
// lock. For two files with the same name and line, both are recorded.
func TestPlacesAreRecorded(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		for range 2 {
			start(t, backing)
			m, rw := &Mutex{}, &RWMutex{}
			for range 2 {
				contendIn(t, stateOf(m), m, lockHere)
			}
			for _, first := range []bool{true, false} {
				contendIn(t, stateOf(rw), rw, func(l sync.Locker) { lockInTwoFiles(l, first) })
			}
			named := &Mutex{Name: "named"}
			contendIn(t, stateOf(named), named, lockThere)
			stop(t)
			tr := tracetest.OpenFile(t, Path())
			found, files := map[string]int{}, map[string]string{}
			for _, p := range tr.Places() {
				kind := format.LockMutex
				if strings.HasSuffix(p.Function, ".lockInTwoFiles") {
					kind = format.LockRWMutex
				}
				function := p.Function[strings.LastIndexByte(p.Function, '.')+1:]
				found[function]++
				files[filepath.Base(filepath.Dir(p.File))] = tr.Name(p.Name)
				if p.Kind != kind || !filepath.IsAbs(p.File) || p.Line == 0 {
					t.Errorf("%s is %+v", tr.Name(p.Name), p)
				}
			}
			if found["lockHere"] != 1 || found["lockThere"] != 0 || found["lockInTwoFiles"] != 2 {
				t.Errorf("places in functions: %v", found)
			}
			if files["one"] != "record_test.lockInTwoFiles x.go:10" || !strings.HasSuffix(files["two"], "/record_test.lockInTwoFiles /two/x.go:10") {
				t.Errorf("places in files: %q", files)
			}
		}
	})
}

// lockInTwoFiles is in two files, according to its line directives.
//
//go:noinline
func lockInTwoFiles(l sync.Locker, first bool) {
	if first {
//line /one/x.go:10
		l.Lock()
	} else {
//line /two/x.go:10
		l.Lock()
	}
}
