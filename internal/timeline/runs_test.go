package timeline

import (
	"context"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const nested = `header clock=monotonic start=1000 mono=1000
state closed=1 tick=21000
chunk blocks
name 2 "main"
name 3 "get"
name 4 "mu"
name 5 "other"
calib ticks=1000 mono=1000 wall=0
stop ticks=21000
chunk records flags=ends
task "main" g=1 start=1000 open
task "get" g=1 start=2000 stop=3000 cpu=0/unknown
wait "mu" g=1 start=2100 stop=2600 cpu=0/unknown | addr:0xc0
task "other" g=1 start=2700 stop=2800 cpu=0/unknown
task "other" g=1 start=4000 stop=5000 cpu=0/unknown
task "other" g=2 start=4000 stop=5000 cpu=0/unknown
task "get" g=1 start=6000 stop=9000 cpu=0/unknown
task "get" g=1 start=7000 stop=8000 cpu=0/unknown
task "get" g=3 start=9000 open
`

// TestRuns: the executions of a name come with exactly what is inside and around them; if
// that is too much they come alone.
func TestRuns(t *testing.T) {
	x, err := Load(context.Background(), tracetest.OpenText(t, nested), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type run struct{ goid, depth, name, start int64 }
	for _, test := range []struct {
		from, to, most int64
		want           []run
		alone          bool
		left           int64
	}{
		{0, 20000, 100, []run{{1, 0, 2, 0}, {1, 1, 3, 1000}, {1, 1, 3, 5000}, {1, 2, 4, 1100}, {1, 2, 5, 1700}, {1, 2, 3, 6000}, {3, 0, 3, 8000}}, false, 0},
		{6500, 6600, 100, []run{{1, 0, 2, 0}, {1, 1, 3, 5000}, {1, 2, 3, 6000}}, false, 0},
		{3100, 3900, 100, nil, false, 0},
		{0, 20000, 4, []run{{1, 1, 3, 1000}, {1, 1, 3, 5000}, {1, 2, 3, 6000}, {3, 0, 3, 8000}}, true, 0},
		{0, 20000, 2, []run{{1, 1, 3, 1000}, {1, 1, 3, 5000}, {3, 0, 3, 8000}}, true, 1},
	} {
		tile, err := x.Runs(context.Background(), 3, test.from, test.to, test.most)
		if err != nil {
			t.Fatal(err)
		}
		var got []run
		for _, d := range pack(t, &Container{Tile: tile}).items() {
			got = append(got, run{d.goid, int64(d.depth), int64(d.name), d.start})
		}
		if !slices.Equal(got, test.want) || tile.Alone != test.alone || tile.Left != test.left {
			t.Errorf("%d to %d, most %d: %v, %v, %d left; want %v", test.from, test.to, test.most, got, tile.Alone, tile.Left, test.want)
		}
	}
}
