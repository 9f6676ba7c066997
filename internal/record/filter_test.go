//go:build !scope_off

package record_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/scopeview/scopeview/scope"
)

// everything calls each recording function once.
func everything(prefix string) {
	var mu sync.Mutex
	Task(prefix + "task")()
	Task(prefix+"args", 1, "x")()
	Taskf(prefix+"taskf %d", 1)()
	Process(prefix + "process")()
	Begin(prefix + "span").End(1)
	Event(prefix+"event", 1)
	Pending(prefix + "pending")()
	Counter(prefix+"counter", 1)
	Lock(&mu, prefix+"lock")()
	Stack(prefix+"stack", 1) // not an event
}

func everyName(prefix string) []string {
	n := []string{"task", "args", "taskf %d", "process", "span", "event", "pending", "counter", "lock"}
	for i := range n {
		n[i] = prefix + n[i]
	}
	return n
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		expr string
		want []string
	}{
		{"", append(everyName("a."), everyName("b.")...)},
		{"-b.*", everyName("a.")},
		{"b.*", everyName("b.")},
		{"-*", nil},
		{"*,-a.*,a.event", append([]string{"a.event"}, everyName("b.")...)},
		{"?.lock", []string{"a.lock", "b.lock"}},
		{"none", nil},
	} {
		t.Run(c.expr, func(t *testing.T) {
			perBacking(t, func(t *testing.T, backing Option) {
				check := func(how string) {
					t.Helper()
					var got []string
					for _, e := range stop(t).events {
						got = append(got, e.name)
					}
					if !slices.Equal(got, c.want) {
						t.Errorf("%s: recorded %q, want %q", how, got, c.want)
					}
					if s := Stats(); s.Lost.Total() != 0 || s.Misuse != (Misuse{}) {
						t.Errorf("%s: what is left out counts: %+v", how, s)
					}
				}
				start(t, backing, WithFilter(c.expr))
				everything("a.")
				everything("b.")
				check("WithFilter")

				start(t, backing, WithFilter("-a.*,-b.*"))
				everything("a.") // so that the cached decision differs from the new filter's
				if err := SetFilter(c.expr); err != nil {
					t.Fatal(err)
				}
				everything("a.")
				everything("b.")
				check("SetFilter")
			})
		})
	}
}

// TestFilterNames checks what a filter does not affect: rows, keys, and a lock,
// which is still locked and unlocked.
func TestFilterNames(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, WithFilter("-*,kept"))
		var l taken
		Lock(&l, "l")()
		Track("row")
		Event("kept", KV("key", 1))
		done := make(chan bool)
		Go("other row", func() { close(done) })
		<-done
		want := []string{`track "row" track="row"`, `event "kept" track="row" | key=int:1`, `go "other row" track="other row"`}
		if got := stop(t).lines(); !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
		if l != (taken{1, 1}) {
			t.Errorf("locked %d times, unlocked %d times", l.locked, l.unlocked)
		}
	})
}

// TestFilterBetween changes the filter between a scope's begin and its end: a
// scope that has begun ends, and one that was filtered out stays out.
func TestFilterBetween(t *testing.T) {
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		in := Task("a")
		SetFilter("-a")
		out := Task("a")
		in()
		SetFilter("")
		out()
		r := stop(t)
		if got, want := r.lines(), []string{`task "a"`}; !slices.Equal(got, want) {
			t.Errorf("recorded %q, want %q", got, want)
		}
		var notes []string
		for _, n := range r.Notes {
			notes = append(notes, n.Text)
		}
		if want := []string{"filter -a", "filter "}; !slices.Equal(notes, want) {
			t.Errorf("the trace says of the filter %q, want %q", notes, want)
		}
	})
}

func TestSetFilterErrors(t *testing.T) {
	if err := SetFilter("a"); !errors.Is(err, ErrStopped) {
		t.Errorf("without a recording: %v", err)
	}
	start(t)
	if err := SetFilter("a,,["); err != nil {
		t.Logf("refused: %v", err) // and nothing changes
	}
	SetFilter("")
	Task("a")()
	if got := stop(t).lines(); len(got) != 1 {
		t.Errorf("recorded %q", got)
	}
}

// TestFilterUnderTraffic switches names on and off while goroutines use them.
// The latest decision must hold for every name: a goroutine that looked a name
// up before the change must not store the old decision.
func TestFilterUnderTraffic(t *testing.T) {
	const workers = 3
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	perBacking(t, func(t *testing.T, backing Option) {
		for range rounds {
			// Each recording looks up the names' addresses anew.
			start(t, backing, shortTicks())
			var wg sync.WaitGroup
			var quit atomic.Bool
			for range workers {
				wg.Go(func() {
					for !quit.Load() {
						Task("on")()
						Task("off", 1)()
					}
				})
			}
			for range 5 {
				SetFilter("-o*")
				SetFilter("-off")
			}
			quit.Store(true)
			wg.Wait()
			breathe(t) // the goroutines may have filled the window
			Event("settled")
			Task("on")()
			Task("off")()
			Task("off", 1)()
			r := stop(t)
			at := slices.IndexFunc(r.events, func(e seen) bool { return e.name == "settled" })
			if got := strings.Join(r.lines()[at:], ","); got != `event "settled",task "on"` {
				t.Fatalf("after the last filter recorded %s", got)
			}
		}
	})
}
