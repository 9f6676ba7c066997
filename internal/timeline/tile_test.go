package timeline

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const small = `header clock=monotonic start=1000 mono=1000
state closed=1 tick=11000
chunk blocks
name 2 "main"
name 3 "parse"
name 4 "mu"
name 5 "tick"
name 6 "depth"
name 7 "worker"
name 8 "file"
calib ticks=1000 mono=1000 wall=0
stop ticks=11000
chunk records flags=ends
anchor start=1100 thread=77 cpu=-1
task "main" @m g=1 start=1100 stop=9000 cpu=3000/likely
task "parse" g=1 start=1200 stop=1700 cpu=500/exact | key:"file" string:"a.go"
wait "mu" g=1 start=2000 stop=2600 cpu=0/unknown | addr:0xc0
event "tick" g=1 start=3000 | int:7
counter "depth" g=1 start=3500 value=int:-5
counter "depth" g=1 start=3600 value=float:2.5
go "worker" g=9 start=4000 created=3900 creator=1
task "parse" g=9 start=4100 open tid=77
task "parse" g=1 start=5000 open tid=77 apart @x
end "parse" g=9 start=5400 begin=5000 cpu=9/unknown | loc:@x goid:1
`

func TestTile(t *testing.T) {
	tr := tracetest.OpenText(t, small)
	x, err := Load(context.Background(), tr, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := pack(t, &Container{Tile: x.Tile(0, 10000, 0)})
	const (
		task, wait, event = int64(format.KindTask), int64(format.KindWait), int64(format.KindEvent)
		exact, likely     = int64(format.Exact), int64(format.Likely)
	)
	want := []drawn{
		{goid: 1, depth: 0, kind: task, flags: likely, name: 2, start: 100, dur: 7900, slack: 4900, thread: 77},
		{goid: 1, depth: 1, kind: task, flags: exact, name: 3, start: 200, dur: 500, thread: 77, args: `{"file":"a.go"}`},
		{goid: 1, depth: 1, kind: wait, name: 4, start: 1000, dur: 600, thread: 77, args: `{"addr":"0xc0"}`},
		{goid: 1, depth: 1, kind: task, name: 3, start: 4000, dur: 400, thread: 77, endedBy: 9},
		{goid: 1, depth: 255, kind: event, name: 5, start: 2000, thread: 77, args: `{"0":7}`},
		{goid: 9, track: 7, depth: 0, kind: task, flags: flagOpen, name: 3, start: 3100, dur: 6900, thread: 77},
	}
	if got := d.items(); !slices.Equal(got, want) {
		t.Errorf("items\n got %+v\nwant %+v", got, want)
	}
	for name, want := range map[string][]int64{
		"goChild": {9}, "goCreator": {1}, "goCreated": {2900}, "goStart": {3000},
		"seriesName": {6}, "seriesCount": {2}, "seriesTime": {2500, 2600},
		"laneRow": {0, 0, 0, 1}, "laneDepth": {0, 1, 255, 0}, "laneCount": {1, 3, 1, 1},
	} {
		if got := d.ints[name]; !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := d.floats["seriesValue"]; !slices.Equal(got, []float64{-5, 2.5}) {
		t.Errorf("values %v", got)
	}
	if got := x.Open(); len(got) != 1 || got[0] != (openScope{Goid: 9, Track: 7, Name: 3, Kind: format.KindTask, Start: 3100, Thread: 77}) {
		t.Errorf("open: %+v", got)
	}
	if x.Items() != 6 || x.scopes != 5 || x.end != 10000 {
		t.Errorf("%d items, %d scopes, end %d", x.Items(), x.scopes, x.end)
	}
	if got := pack(t, &Container{Tile: x.Tile(1700, 1900, 0)}).items(); len(got) != 1 || got[0].name != 2 {
		t.Errorf("in [1700, 1900]: %+v", got)
	}
}

// TestWideNumbers: depths around the number of the instants' lane, and values that exceed 32
// bits.
func TestWideNumbers(t *testing.T) {
	script := "header clock=monotonic start=1000 mono=1000\nstate closed=1 tick=100000000000\nchunk blocks\nname 2 \"f\"\nstop ticks=100000000000\n"
	for i := range 300 {
		if i%50 == 0 {
			script += "chunk records\n"
		}
		script += fmt.Sprintf("task \"f\" g=1 start=%d stop=%d cpu=5/likely\n", 2000+i, 99_000_000_000-i)
	}
	script += "event \"f\" g=1 start=5000\n"
	x, err := Load(context.Background(), tracetest.OpenText(t, script), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	items := pack(t, &Container{Tile: x.Tile(0, x.end, 0)}).items()
	if len(items) != 301 {
		t.Fatalf("%d items", len(items))
	}
	for i, it := range items {
		switch {
		case i == 255:
			if it.kind != int64(format.KindEvent) || it.depth != laneInstants {
				t.Errorf("item 255 is %+v", it)
			}
			continue
		case i > 255:
			i--
		}
		depth := int64(i)
		if i >= 255 {
			depth++
		}
		if it.depth != depth || it.start != int64(1000+i) || it.dur != int64(99_000_000_000-2000-2*i) || it.slack != it.dur-5 {
			t.Errorf("item %d is %+v", i, it)
		}
	}
}
