package stacks

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const counted = `header
state closed=1 tick=9000
chunk blocks
name 2 "hit"
name 3 "miss"
calib ticks=1000 mono=1000 wall=1700000000000000000
frame 0 "cache.get" "/src/cache.go" line=12
frame 1 "main.serve" "/src/main.go" line=50
frame 2 "main.warm" "/src/main.go" line=70
stack 1 0 1
stack 2 0 2
count ticks=2000 2:1:10:100 2:2:30:-5 3:0:2:2
stop ticks=9000
`

// TestStacks sums up by different numbers of callers, and folds the stacks for flame graphs without
// those that would have no width.
func TestStacks(t *testing.T) {
	tr := tracetest.OpenText(t, counted)
	for _, c := range []struct {
		depth, skip int
		want        []string // lines of the text, without the spaces between cells
	}{
		{0, 0, []string{"hit 40 95 2", "miss 2 2 1", "hit 30 75% -5 cache.get cache.go:12 < main.warm main.go:70", "hit 10 25% 100 cache.get cache.go:12 < main.serve main.go:50", "miss 2 100% 2 (other stacks)"}},
		{1, 0, []string{"hit 40 100% 95 cache.get cache.go:12"}},
		{1, 1, []string{"hit 30 75% -5 main.warm main.go:70", "hit 10 25% 100 main.serve main.go:50"}},
	} {
		r := Of(tr, &analysis.Selection{}, c.depth, c.skip)
		var text report.Text
		r.Text(&text)
		var lines []string
		for line := range strings.Lines(text.String()) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		got := "\n" + strings.Join(lines, "\n") + "\n"
		for _, w := range c.want {
			if !strings.Contains(got, "\n"+w+"\n") {
				t.Errorf("depth %d, skip %d: no line %q in%s", c.depth, c.skip, w, got)
			}
		}
	}
	r := Of(tr, &analysis.Selection{}, 0, 0)
	for byWeight, want := range map[bool]string{
		false: "main.warm;cache.get;hit 30\nmain.serve;cache.get;hit 10\n(other stacks);miss 2\n",
		true:  "main.serve;cache.get;hit 100\n(other stacks);miss 2\n",
	} {
		var b strings.Builder
		if err := r.Folded(&b, byWeight); err != nil || b.String() != want {
			t.Errorf("by weight %v: %v\n%s", byWeight, err, b.String())
		}
	}
	if r.Unnamed != 0 {
		t.Errorf("%d have no names", r.Unnamed)
	}
}
