package gotrace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// BenchmarkRead reads a trace of two goroutines that wake each other all the
// time.
func BenchmarkRead(b *testing.B) {
	const rounds = 50_000
	m := newMade().begin(start+100).
		event(start+110, evGoStatus, 7, 100, running).
		event(start+120, evGoBlock, 1, 1).
		event(start+130, evGoStatus, 8, 0, runnable)
	at, me, other := int64(start+140), uint64(8), uint64(7)
	seq := map[uint64]uint64{}
	next := func(g uint64) uint64 { seq[g]++; return seq[g] }
	m.event(at, evGoStart, me, next(me))
	for range rounds {
		m.event(at+1, evGoUnblock, other, next(other), 2).event(at+2, evGoBlock, 1, 1)
		at, me, other = at+3, other, me
		m.event(at, evGoStart, me, next(me))
		if len(m.events) > 60_000 {
			m.other(at, m.thread)
		}
	}
	stream := m.end().b
	var lines strings.Builder
	fmt.Fprintf(&lines, "header chunk=65536 path=go clock=monotonic start=%d mono=%d wall=%d\nstate closed=1 tick=%d\n", start, start, start, start+10_000_000)
	for part := 0; len(stream) > 0; part++ {
		n := min(60_000, len(stream))
		fmt.Fprintf(&lines, "chunk blocks sealed\ngotrace part=%d %x\n", part, stream[:n])
		stream = stream[n:]
	}
	tr := tracetest.OpenText(b, lines.String())
	var changes int64
	for b.Loop() {
		info, err := gotrace.Read(tr, gotrace.Handler{Transition: func(*gotrace.Transition) {}})
		if err != nil || len(info.Problems) > 0 || info.Transitions < 3*rounds || info.Rough > 0 {
			b.Fatalf("%v, %+v", err, info)
		}
		changes += info.Transitions
	}
	b.ReportMetric(float64(changes)/b.Elapsed().Seconds(), "changes/s")
}
