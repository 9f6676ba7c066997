package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// hotTrace is of a program that used a second of CPU time, with functions whose calls were
// not all recorded.
const hotTrace = `header
state closed=1 tick=9000
chunk blocks sealed
name 2 "a"
name 3 "b"
name 4 "c"
beat ticks=1000 user_ns=0 sys_ns=0
calls ticks=8000 %s
unseen ticks=8000 4:%d
beat ticks=8000 user_ns=700000000 sys_ns=%d
stop ticks=9000
`

// TestTooHot: of a second, a budget of 4 % has a hundredth for calls that are not recorded,
// which is enough for 2.5 million.
func TestTooHot(t *testing.T) {
	for _, c := range []struct {
		calls  string
		unseen int64
		system int64
		share  float64
		want   string
	}{
		{"2:1000000:5:0 3:1000000:5:0 4:490000:5:0", 0, 300e6, 0.04, ""},
		{"2:1000000:5:0 3:1000000:5:0 4:510000:5:0", 0, 300e6, 0.04, "a"},
		{"2:1000000:5:0 3:1000000:5:0 4:510000:5:0", 2e6, 300e6, 0.04, "c"}, // estimated calls count
		{"2:9000000:5:0 3:3000000:5:0 4:2000000:5:0", 0, 300e6, 0.04, "a b"},
		{"2:9000000:5:0 3:3000000:5:0 4:2000000:5:0", 0, 300e6, 0.004, "a b c"},
		{"2:9000000:5:0 3:3000000:5:0 4:2000000:5:0", 0, 99300e6, 0.04, ""},
		{"2:9000000:5:0 3:3000000:5:0 4:2000000:5:0", 0, -700e6, 0.04, ""}, // the CPU time is not known
	} {
		tr := tracetest.OpenText(t, fmt.Sprintf(hotTrace, c.calls, c.unseen, c.system))
		var got []string
		for _, f := range analysis.TooHot(tr, c.share) {
			got = append(got, tr.Name(f.Name))
		}
		if slices.Sort(got); strings.Join(got, " ") != c.want {
			t.Errorf("%s and %d, %d ns, %v: %q, want %q", c.calls, c.unseen, c.system, c.share, got, c.want)
		}
	}
}
