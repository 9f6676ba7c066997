package trace_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// agree compares the events of the reader with those of the second one, if both can read the trace.
func agree(t *testing.T, data []byte) {
	t.Helper()
	tr, err := trace.Open(bytes.NewReader(data), int64(len(data)))
	want, ok := readOracle(data)
	if err != nil || !ok {
		return
	}
	var got []string
	for e := range tracetest.Events(t, tr, trace.Options{AsRecorded: true}) {
		got = append(got, eventLine(tr, e))
	}
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			line := func(list []string) string {
				if i < len(list) {
					return list[i]
				}
				return "nothing"
			}
			t.Fatalf("of %d events and %d of the second reader, number %d is\n%s\nand the second reader has\n%s", len(got), len(want), i, line(got), line(want))
		}
	}
}

// eventLine returns an event's line, as lineOf does for the second reader.
func eventLine(tr *trace.Trace, e *trace.Event) string {
	value := ""
	user, system, cpu, dur := int64(-1), int64(-1), e.CPU, e.Dur
	switch e.Kind {
	case format.KindProcess:
		user, system = e.User, e.System
	case format.KindCounter:
		value = fmt.Sprintf(" value=%d:%d", e.ValueType&15, e.Value)
	case format.KindGo:
		value = fmt.Sprintf(" created=%d creator=%d", e.Created, e.Creator)
	}
	if e.Quality == format.Unknown {
		cpu = 0
	}
	if e.Kind == format.KindPending {
		dur = 0 // an open scope's Dur extends to the last known time, for display
	}
	name := func(id uint16) string { return strconv.Quote(tr.Name(id)) }
	slots := func(list []format.Slot) (text string) {
		for _, s := range list {
			value := strconv.FormatUint(s.Value, 10)
			switch s.Type & 15 {
			case format.SlotKey:
				value = name(uint16(s.Value))
			case format.SlotString, format.SlotType_:
				value = strconv.Itoa(s.Full)
			}
			text += fmt.Sprintf(" %d:%s%q", s.Type&15, value, s.Str)
		}
		return text
	}
	return lineOf(int(e.Kind), name(e.Name), e.Goid, int(e.Depth), e.Start, dur, e.Open, e.Overwritten, uint64(e.Quality), cpu, user, system, value,
		e.Thread, e.Owner, e.EndGoid, name(e.Track), slots(e.Args), slots(e.EndArgs))
}

// TestSecondReader checks that a reader written from docs/format.md agrees with ours on every
// golden, on the recordings of each version, and on traces of the model of the writers.
func TestSecondReader(t *testing.T) {
	n := 0
	check := func(name string, data []byte) {
		t.Run(name, func(t *testing.T) {
			lines, ok := readOracle(data)
			if n += len(lines); !ok {
				t.Error("the second reader can't read it")
			}
			agree(t, data)
		})
	}
	for _, g := range goldens(t) {
		if g.success() {
			check(g.name, g.bytes(t))
		}
	}
	for _, r := range recordings(t) {
		check(filepath.Base(filepath.Dir(r.path))+"-"+filepath.Base(r.path), r.data)
	}
	w := newWriter(5)
	for range 4000 {
		w.step()
	}
	w.settle(true)
	check("model", w.image[:w.size])
	for seed, closes := range []bool{false, true} {
		ring := newRingWriter(uint64(seed), 20)
		for range 60000 {
			ring.step()
		}
		ring.settle(closes)
		check(fmt.Sprint("ring-", seed), ring.image[:ring.size])
	}
	t.Logf("%d events, which both read alike", n)
}
