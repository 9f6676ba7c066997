package gotrace

import (
	"testing"
	"time"

	exptrace "golang.org/x/exp/trace"
)

// TestWallClocks: if the monotonic clocks differ, times are aligned by the wall clocks, also those
// of today.
func TestWallClocks(t *testing.T) {
	const start = 1_795_998_290_042_512_192
	c := clock{mono: 5000, wall: start}
	c.sync(&exptrace.ClockSnapshot{Trace: 100, Mono: 7000, Wall: time.Unix(0, start+3000)})
	if got := 100 + c.off; got != 3000 {
		t.Errorf("the stream begins %d ns behind the trace's start, want 3000", got)
	}
}
