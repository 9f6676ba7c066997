package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// TestRing: the page receives the time from which a ring is complete. Its view begins there,
// and the time before is marked as a gap.
func TestRing(t *testing.T) {
	const ring = `header clock=monotonic start=1000 ring=3
state closed=1 tick=9000 overwritten=%d until=%d
chunk blocks flags=kept sealed
name 2 "f1"
stop ticks=9000
chunk records number=4 owner=0 since=4000 flags=final sealed
  anchor start=4000 thread=12 cpu=0
  task "f1" g=7 start=4000 stop=7000 cpu=0/unknown
`
	for _, c := range []struct {
		overwritten, until int64
		whole              int64
		gaps, banner       string
	}{
		{400, 3950, 2950, "[[0 2950 400 overwritten]]", "A ring: 400 older records were overwritten; what began after 2.95µs is whole."},
		{0, 0, 0, "[]", ""},
	} {
		tr, x := loaded(t, fmt.Sprintf(ring, c.overwritten, c.until))
		m := x.Meta(tr, MetaOptions{})
		banner := ""
		for _, s := range m.Banner {
			if strings.HasPrefix(s.Text, "A ring") {
				banner = s.Text
			}
		}
		if m.Whole != c.whole || fmt.Sprint(m.Gaps) != c.gaps || banner != c.banner {
			t.Errorf("whole from %d, gaps %v, %q; want %+v", m.Whole, m.Gaps, banner, c)
		}
	}
}
