package outside

import (
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/sys"
)

// ringPages is the size of the ring of a CPU and a counter, in pages.
const ringPages = 256

// stackWords is the number of bytes of its stack in a sample: the frames of most functions of C
// without a frame pointer are smaller, and for Go 16 would suffice. Each sample has them in its
// ring.
const stackWords = 256

// open opens the perf events that watch the program.
func (r *recorder) open(o Options) error {
	if sys.Filtered() {
		return errors.New("recording from outside: a seccomp filter is active, which may kill this program for a call of perf_event_open")
	}
	cpus, err := perf.Online()
	if err != nil {
		return fmt.Errorf("recording from outside: %w", err)
	}
	add := func(c perf.Counter) *perf.Watched {
		w := &perf.Watched{Counter: c, Events: perf.Events{CPUs: cpus, Pages: ringPages}}
		r.counters = append(r.counters, w)
		return w
	}
	rest := sys.Watching{Tasks: true, Maps: true, Children: true, Switches: !o.NoSwitches}
	if err := add(perf.Counter{}).Open(r.pid, rest, nil); err != nil {
		return fmt.Errorf("recording from outside: %w", perf.Refused(err))
	}
	for _, c := range o.Counters {
		w := add(c)
		err := w.Watch(sys.Watching{Stack: stackWords, Children: true}, func(ask sys.Watching) error { return w.Open(r.pid, ask, nil) })
		if err != nil {
			return fmt.Errorf("the counter %s: %w", c.Name, err)
		}
	}
	return nil
}
