// Command functions measures itself as a program whose functions are scopes: the cost of a
// call, or the CPU time of the same work with and without scopes.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/hooks"
)

// functions are the descriptors of a generated file.
var functions = [...]hooks.Func{{Name: "main.called"}, {Name: "main.works"}}

var sink uint64

//go:noinline
func empty() { sink++ }

//go:noinline
func called() {
	if h := functions[0].Enter(); h.Loc != 0 {
		defer h.End()
	}
	sink++
}

// steps is the number of steps of works, about 100 ns, for ten million calls a second.
const steps = 100

//go:noinline
func bare() {
	for range steps {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

//go:noinline
func works() {
	if h := functions[1].Enter(); h.Loc != 0 {
		defer h.End()
	}
	for range steps {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

const perBatch, batches = 50_000, 100

// perCall returns the time of a call of f, in ns: the median of many batches of calls.
func perCall(f func()) float64 {
	all := make([]float64, batches)
	for i := range all {
		began := time.Now()
		for range perBatch {
			f()
		}
		all[i] = float64(time.Since(began)) / perBatch
	}
	slices.Sort(all)
	return all[batches/2]
}

func recording(dir string, share float64) error {
	record.Instrument(share)
	return scope.Start(filepath.Join(dir, fmt.Sprint(share, ".scope")), scope.WithRing(64<<20), scope.WithOverwrite())
}

// settled is the time until the budget has decided: calls are first counted, and later not
// even that.
const settled = 300 * time.Millisecond

// calls prints the cost of calls. A program without other work has no budget, whatever the
// share: so a recorded call does some work, which is subtracted.
func calls(dir string) error {
	var c struct{ Empty, Stopped, Recorded, Counted, Hidden, Share float64 }
	c.Empty, c.Stopped = perCall(empty), perCall(called)
	for _, m := range []struct {
		share float64
		f     func()
		ns    *float64
		works bool
		after time.Duration
	}{{1e9, works, &c.Recorded, true, settled}, {1e-9, called, &c.Counted, false, 0}, {1e-9, called, &c.Hidden, false, settled}} {
		if err := recording(dir, m.share); err != nil {
			return err
		}
		for began := time.Now(); time.Since(began) < m.after; {
			perCall(m.f) // the budget measures it
		}
		s := scope.Stats()
		before := s.Recorded + s.Overwritten
		*m.ns = perCall(m.f)
		if s = scope.Stats(); m.works {
			c.Share = float64(s.Recorded+s.Overwritten-before) / (perBatch * batches)
			*m.ns -= perCall(bare) - c.Empty // measured now, because the processor's speed changes
		}
		if err := scope.Stop(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(c)
}

// work prints the CPU time of n calls, in ns. The environment determines whether it records.
func work(n int, f func()) error {
	for range n {
		f()
	}
	if err := scope.Stop(); err != nil && !errors.Is(err, scope.ErrStopped) {
		return err
	}
	user, system := sys.ProcessCPU()
	_, err := fmt.Println(user + system)
	return err
}

func main() {
	err := fmt.Errorf("usage: functions calls DIR | bare | works")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "calls":
		err = calls(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "bare":
		err = work(10_000_000, bare)
	case len(os.Args) == 2 && os.Args[1] == "works":
		err = work(10_000_000, works)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "functions:", err)
		os.Exit(1)
	}
}
