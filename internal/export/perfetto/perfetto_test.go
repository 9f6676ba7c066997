package perfetto

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestPackets: the packets of a tiny trace, except for the tracks of its heartbeat.
func TestPackets(t *testing.T) {
	tr := tracetest.OpenText(t, `header pid=42 wall=1700000000000000000 start=1000
state closed=1 tick=9000
chunk blocks sealed
name 2 "f"
name 3 "worker 1"
name 4 "bytes"
info "program" "/bin/program"
stop ticks=9000
chunk records owner=0 since=1000 flags=final sealed
  track "worker 1" g=7 start=1000
  task "f" g=7 start=2000 stop=2300 cpu=250/exact | key:"bytes" int:-1 type:"pkg.T"
  task "f" g=7 start=3000 open tid=1
`)
	var b bytes.Buffer
	size, err := Write(context.Background(), &b, tr, rows.Options{Tool: "test", State: analysis.StateClosed})
	if err != nil {
		t.Fatal(err)
	}
	all := packets(t, b.Bytes())
	if size.Packets != int64(len(all)) || size.Bytes != int64(b.Len()) {
		t.Errorf("%+v are reported, there are %d packets in %d bytes", size, len(all), b.Len())
	}
	got := slices.DeleteFunc(all, func(p string) bool { return strings.Contains(p, " 5:3 ") })
	want := []string{
		`8:0 58:6 10:1 13:1 59:{58:64} 6:{1:{1:6 2:0} 1:{1:1 2:1700000000000000000} 1:{1:64 2:0 3:1}}` +
			` 12:{1:{1:1 2:"task"} 1:{1:2 2:"process"} 1:{1:3 2:"event"} 1:{1:4 2:"pending"} 1:{1:5 2:"counter"}` +
			` 1:{1:6 2:"wait"} 1:{1:7 2:"hold"} 1:{1:12 2:"task"} 1:{1:128 2:"go"} 1:{1:129 2:"lock"} 2:{1:131072 2:"go"} 2:{1:131073 2:"lock"}}`,
		`10:1 126:{1:{1:"tool" 3:"test"} 1:{1:"program" 3:"program"} 1:{1:"start" 3:"2023-11-14T22:13:20Z"} 1:{1:"state" 3:"closed"}}`,
		`10:1 60:{1:1 3:{1:42 6:"program"}}`,
		`10:1 60:{1:2 5:1 2:"goroutines" 15:2 11:3}`,
		`10:1 60:{1:3 5:1 2:"heartbeat" 15:2 11:3}`,
		`10:1 60:{1:4 5:1 2:"counters" 15:2 11:3}`,
		`10:1 60:{1:10 5:2 2:"worker 1" 15:2 12:0}`,
		`8:1000 10:1 13:2 12:{2:{1:3 2:"f"} 3:{1:1 2:"cpu_ns"} 3:{1:2 2:"bytes"} 3:{1:3 2:"0"} 3:{1:4 2:"type"}}` +
			` 11:{9:1 11:10 3:1 10:3 4:{1:1 4:250} 4:{1:2 4:-1} 4:{1:3 11:{1:4 6:"pkg.T"}}}`,
		`8:300 10:1 13:2 11:{9:2 11:10}`,
		`8:700 10:1 13:2 12:{3:{1:5 2:"open"}} 11:{9:1 11:10 3:1 10:3 4:{1:5 2:1}}`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("packet %d is\n%s\nwant\n%s", i, at(got, i), at(want, i))
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}

// TestClock: a packet has the time since the one before; one about something earlier uses
// another clock, and does not count for the next.
func TestClock(t *testing.T) {
	var b bytes.Buffer
	s := newWriter(&b, tracetest.OpenText(t, "header"))
	for _, ns := range []int64{5, 5, 3, 1005, -7, 1006} {
		s.begin(instant, processTrack)
		s.emit(ns)
	}
	s.Flush()
	var got []string
	for _, p := range packets(t, b.Bytes()) {
		head, _, _ := strings.Cut(p, " 10:1 ")
		got = append(got, head)
	}
	if want := []string{"8:5", "8:0", "8:3 58:6", "8:1000", "8:0 58:6", "8:1"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNames: each name is defined once; keys beyond the limit are written out at each use.
func TestNames(t *testing.T) {
	s := newWriter(nil, tracetest.OpenText(t, "header\nchunk blocks\nname 2 \"f\"\n"))
	define := func() string {
		s.begin(instant, processTrack)
		s.named(&trace.Event{Kind: format.KindEvent, Name: 2})
		return walk(t, "12", s.interned) + " / " + walk(t, "11", s.event)
	}
	if got, want := define(), `2:{1:3 2:"f"} / 9:3 11:1 3:3 10:3`; got != want {
		t.Errorf("at first: %s, want %s", got, want)
	}
	if got, want := define(), ` / 9:3 11:1 3:3 10:3`; got != want {
		t.Errorf("then: %s, want %s", got, want)
	}
	s.begin(instant, processTrack)
	for _, key := range []string{"a", "b", "a"} {
		s.part = s.appendKey(s.part, key)
	}
	if got, want := walk(t, "12", s.interned)+" / "+walk(t, "11.4", s.part), `3:{1:1 2:"a"} 3:{1:2 2:"b"} / 1:1 1:2 1:1`; got != want {
		t.Errorf("keys: %s, want %s", got, want)
	}
	for i := range maxKeys - len(s.keys) {
		s.appendKey(nil, "key "+strconv.Itoa(i))
	}
	s.begin(instant, processTrack)
	if got, want := walk(t, "11.4", s.appendKey(s.appendKey(nil, "late"), "b")), `10:"late" 1:2`; got != want || len(s.interned) > 0 {
		t.Errorf("with %d keys: %s, want %s", len(s.keys), got, want)
	}
}

func TestLarge(t *testing.T) {
	for _, test := range []struct {
		size Size
		want bool
	}{
		{Size{}, false},
		{Size{Packets: 1e8, Bytes: 500_000_000}, false},
		{Size{Bytes: 500_000_001}, true},
	} {
		if got := test.size.Large(); got != test.want {
			t.Errorf("%+v: %v", test.size, got)
		}
	}
}
