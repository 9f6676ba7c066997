package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// qualityRows measures how well the CPU time of computing scopes is known, by their length:
// Go preempts a goroutine after 10 ms, and then a scope has bounds instead. One goroutine
// per CPU computes.
func qualityRows(b *bench) []row {
	var rows []row
	for _, c := range []struct {
		length time.Duration
		inner  bool
	}{
		{100 * time.Microsecond, false}, {time.Millisecond, false},
		{5 * time.Millisecond, false}, {5 * time.Millisecond, true},
		{20 * time.Millisecond, false}, {20 * time.Millisecond, true},
		{100 * time.Millisecond, false}, {100 * time.Millisecond, true},
	} {
		name := fmt.Sprintf("CPU time known, scopes of %v", c.length)
		if c.inner {
			name += " with 1 ms scopes inside"
		}
		var q qualities
		_, err := b.recording(job{
			run: func() { b.compute(c.length, c.inner) },
			read: func(t tally) (err error) {
				q, err = readQualities(t.path)
				return err
			},
		})
		if err != nil {
			rows = append(rows, broken(name, err))
			continue
		}
		rows = append(rows, row{name: name, value: quantity{q.share(format.Exact, format.Likely), "%"}, note: q.String()})
	}
	return rows
}

func (b *bench) compute(length time.Duration, inner bool) {
	span := 3 * time.Second
	if b.short {
		span = time.Second
	}
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for begin := time.Now(); time.Since(begin) < span; {
				computing(length, inner)
			}
		})
	}
	done.Wait()
}

func computing(length time.Duration, inner bool) {
	defer scope.Task("outer")()
	if !inner {
		spin(length)
		return
	}
	for begin := time.Now(); time.Since(begin) < length; {
		end := scope.Task("inner")
		spin(time.Millisecond)
		end()
	}
}

func spin(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// qualities counts outer scopes by the quality of their CPU time, and the distance of the
// bounds of those that have only bounds.
type qualities struct {
	count [4]int
	total int
	wide  []float64 // upper minus lower bound, in % of the duration
}

func (q *qualities) share(of ...format.Quality) float64 {
	n := 0
	for _, f := range of {
		n += q.count[f]
	}
	return 100 * float64(n) / float64(max(q.total, 1))
}

func (q *qualities) String() string {
	s := fmt.Sprintf("exact %.0f %%, likely %.0f %%, at most %.0f %%, unknown %.0f %%",
		q.share(format.Exact), q.share(format.Likely), q.share(format.AtMost), q.share(format.Unknown))
	if len(q.wide) > 0 {
		s += fmt.Sprintf("; bounds %.1f %% of the duration apart", median(q.wide))
	}
	return s
}

func readQualities(path string) (qualities, error) {
	var q qualities
	t, err := trace.OpenFile(path)
	if err != nil {
		return q, err
	}
	defer t.Close()
	// The lower bound of a scope is the sum of its children's known times. A parent precedes
	// its children, so it is judged at the next parent.
	type outer struct {
		trace.Event
		known int64
	}
	open := make(map[uint64]*outer)
	judge := func(o *outer) {
		q.total++
		q.count[o.Quality]++
		if o.Quality == format.AtMost && o.Dur > 0 {
			q.wide = append(q.wide, 100*float64(o.CPU-o.known)/float64(o.Dur))
		}
	}
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind != format.KindTask {
			return true
		}
		o := open[e.Goid]
		switch t.Name(e.Name) {
		case "outer":
			if o != nil {
				judge(o)
			}
			open[e.Goid] = &outer{Event: *e}
		case "inner":
			if o != nil && (e.Quality == format.Exact || e.Quality == format.Likely) {
				o.known += e.CPU
			}
		}
		return true
	})
	for _, o := range open {
		judge(o)
	}
	return q, err
}
