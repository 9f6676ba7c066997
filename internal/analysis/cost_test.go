package analysis

import (
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

func beat(time int64, values ...int64) trace.Beat {
	b := trace.Beat{Time: time}
	for i := 0; i < len(values); i += 2 {
		b.Values = append(b.Values, format.FieldValue{Field: format.Field(values[i]), Value: values[i+1]})
	}
	return b
}

func TestRecordingCost(t *testing.T) {
	const user, sys, own, recorded, perRecord = int64(format.FieldUser), int64(format.FieldSystem),
		int64(format.FieldOwnCPU), int64(format.FieldRecorded), int64(format.FieldScopeCost)
	for _, test := range []struct {
		about string
		beats []trace.Beat
		want  cost
	}{
		{"no beats", nil, cost{-1, -1, -1, 0}},
		{"one beat", []trace.Beat{beat(0, user, 5, sys, 5, own, 1)}, cost{-1, -1, -1, 0}},
		{"all known", []trace.Beat{
			beat(0, user, 1e9, sys, 1e9, own, 1e6, recorded, 100, perRecord, 20_000),
			beat(1e9),
			beat(2e9, user, 4e9, sys, 2e9, own, 9e6, recorded, 1_000_100, perRecord, 20_000),
		}, cost{4e9, 8e6, 20e6, 0}},
		{"part of the rounds not measured", []trace.Beat{
			beat(0, user, 0, sys, 0, own, 0, int64(format.FieldOwnUnknown), 10),
			beat(1e9, user, 10, sys, 0, own, 5, int64(format.FieldOwnUnknown), 17),
		}, cost{10, 5, -1, 7}},
		{"threads' clocks are the recorder's too", []trace.Beat{
			beat(0, user, 0, sys, 0, own, 1, int64(format.FieldAnchoring), 2),
			beat(1e9, user, 90, sys, 10, own, 5, int64(format.FieldAnchoring), 9),
		}, cost{100, 11, -1, 0}},
		{"the first knows nothing of the recording", []trace.Beat{
			beat(0, user, 0, sys, 0), beat(1e9, user, 90, sys, 10, own, 5, recorded, 1000, perRecord, 2),
		}, cost{100, 5, 2, 0}},
		{"no system time", []trace.Beat{beat(0, user, 0), beat(1e9, user, 10)}, cost{-1, -1, -1, 0}},
		{"a counter that fell", []trace.Beat{beat(0, user, 9, sys, 0, own, 9), beat(1e9, user, 3, sys, 0, own, 3)}, cost{-1, -1, -1, 0}},
	} {
		if got := RecordingCost(test.beats); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.about, got, test.want)
		}
	}
	c := cost{Process: 4e9, Measured: 8e6, Estimated: -1}
	if p, ok := c.Share(c.Measured); !ok || p != 0.2 {
		t.Errorf("share %v %v", p, ok)
	}
	if _, ok := c.Share(c.Estimated); ok {
		t.Error("an unknown part has a share")
	}
	if _, ok := (cost{Process: -1}).Share(5); ok {
		t.Error("a share of an unknown whole")
	}
}

func TestForgotten(t *testing.T) {
	var c Census
	add := func(n int, e trace.Event) {
		for range n {
			c.Add(&e)
		}
	}
	add(9, open(scope(nameA, 1, 0, 10)))                         // too few
	add(30, open(scope(nameB, 1, 0, 10)))                        // forgotten
	add(50, open(scope(nameC, 1, 0, 10)))                        // one ended
	add(1, scope(nameC, 1, 0, 10))                               //
	add(40, open(kind(format.KindHold, scope(lockL, 1, 0, 10)))) // forgotten as well
	add(40, kind(format.KindEvent, scope(rowR, 1, 0, 0)))        // instants have no end
	add(40, open(kind(format.KindWait, scope(lockM, 1, 0, 0))))  // a deadlock
	got := c.Forgotten()
	if len(got) != 2 || got[0] != (forgotten{lockL, format.KindHold, false, 40}) || got[1] != (forgotten{nameB, format.KindTask, false, 30}) {
		t.Errorf("%+v", got)
	}
	if c.Total() != 210 || c.OpenScopes() != 169 || c.Kinds[format.KindTask] != 90 || c.Open[format.KindHold] != 40 {
		t.Errorf("total %d, open %d", c.Total(), c.OpenScopes())
	}
}

// TestHint: the hint names what may be missing, and no other call.
func TestHint(t *testing.T) {
	linked := open(scope(nameA, 1, 0, 10))
	words := format.Link{Trace: [16]byte{1}, Span: [8]byte{2}}
	for _, w := range words.Words() {
		linked.Args = append(linked.Args, format.Slot{Type: format.SlotAddr, Value: w})
	}
	for _, test := range []struct {
		e    trace.Event
		want string
	}{
		{linked, "is `defer span.End()` missing after `scope.Context(ctx, \"x\")`?"},
		{open(scope(nameA, 1, 0, 10)), "is the second () missing in `defer scope.Task(\"x\")()`, or the End of `scope.Begin(\"x\")`?"},
		{open(kind(format.KindPending, scope(nameA, 1, 0, 10))), "is the second () missing in `defer scope.Pending(\"x\")()`?"},
		{open(kind(format.KindHold, scope(nameA, 1, 0, 10))), "is the second () missing in `defer scope.Lock(&mu, \"x\")()`?"},
	} {
		var c, all Census
		for range 10 {
			c.Add(&test.e)
		}
		all.Merge(&c)
		list := all.Forgotten()
		if len(list) != 1 {
			t.Fatalf("forgotten are %v", list)
		}
		if got, want := Hint("x", list[0]), "x began 10 times and never ended: "+test.want; got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

func TestCensusQuality(t *testing.T) {
	var c Census
	for _, e := range []trace.Event{
		cpu(scope(nameA, 1, 0, 1), format.Exact, 1), cpu(scope(nameA, 1, 0, 1), format.AtMost, 1),
		scope(nameA, 1, 0, 1), open(scope(nameA, 1, 0, 1)), kind(format.KindProcess, scope(nameA, 1, 0, 1)),
	} {
		c.Add(&e)
	}
	if c.CPU != [4]int64{1, 1, 0, 1} {
		t.Errorf("%v", c.CPU)
	}
}
