//go:build linux

package main

import (
	"fmt"
	"io"
	"time"
)

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// line prints the current state.
func (st *steady) line(victims *toll, ring int64) {
	l := &st.last
	growth := ""
	if g, ok := slopeOf(st.rss); ok {
		growth = fmt.Sprintf(" (%+.2f ± %.2f a minute)", g.perMinute, g.uncertain)
	}
	fmt.Printf("%5s  %.1f M steps, %d records lost; on disk %.2f MiB of at most %.2f; %.1f MiB resident%s; %d mappings; %s\n",
		time.Since(st.begin).Round(time.Second), float64(l.issued)/1e6, l.state.Lost, mib(l.blocks), mib(l.bound(ring)), mib(l.rss), growth, l.mappings, victims)
}

func (st *steady) summary(w io.Writer) {
	n := &st.totals
	fmt.Fprintf(w, "steady: %.2f M records/s for %s; issued %d = recorded %d + overwritten %d + lost %d (%d of them because the file did not take them as fast); %d not issued in time\n",
		st.rate, st.span.Round(time.Second), n.issued, n.recorded, n.overwritten, n.lost, n.window, n.behind)
	fmt.Fprintf(w, "  on disk at most %.2f MiB, %.0f KiB below what is promised at the tightest of %d samples; %d kept chunks\n",
		mib(st.most.blocks), float64(st.tight)/1024, st.samples, st.most.kept)
	growth := fmt.Sprintf("whether it grows is not judged in less than %v after the first minute", judgedFor)
	if st.sure {
		heap, _ := slopeOf(st.anon)
		growth = fmt.Sprintf("%+.3f ± %.3f MiB a minute, of %v allowed (the heap's part of it %+.3f ± %.3f)",
			st.growth.perMinute, st.growth.uncertain, mostGrowth, heap.perMinute, heap.uncertain)
	}
	fmt.Fprintf(w, "  resident at most %.1f MiB, %s; at most %d mappings\n", mib(st.most.rss), growth, st.most.mappings)
	fmt.Fprintf(w, "  the trace: %s\n", &st.check)
}
