package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"testing"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// small returns a trace of one scope, with arguments, on a row with a name.
func small(goid uint64, name, track, key, value string, n int64, x float64) []byte {
	var b tracetest.Memory
	w := tracefile.New(&b, format.Header{
		PageSize: 4096, PID: 1, Clock: format.ClockMonotonic, Path: format.PathGo, Backing: format.BackingDisk, StartTicks: 1, StartMono: 1, TickRate: 1_000_000_000,
	})
	for id, s := range []string{2: name, 3: track, 4: key} { // of equal names too
		if id >= format.FirstName {
			w.Block(format.BlockName, format.AppendName(nil, uint16(id), s))
		}
	}
	w.Block(format.BlockInfo, format.AppendInfo(nil, "program", name))
	ext, err := format.AppendExt(nil, []format.Slot{
		{Type: format.SlotKey, Value: 4}, {Type: format.SlotString, Str: []byte(value), Full: len(value)},
		{Type: format.SlotInt, Value: uint64(n)}, {Type: format.SlotFloat, Value: math.Float64bits(x)},
		{Type: format.SlotType_, Str: []byte(value), Full: len(value)},
	})
	if err != nil {
		panic(err)
	}
	w.Record(0, 0, format.Record{Start: 10, Head: format.Head(goid, format.KindTrack, false, 3)}, nil)
	w.Record(0, 0, format.Record{Start: 20, Stop: 30, Head: format.Head(goid, format.KindTask, true, 2)}, ext)
	w.Close(30, nil)
	return b
}

// FuzzExporters: for any names, keys and arguments, the files are JSON and protobuf, and
// names and texts read back unchanged, except for broken UTF-8.
func FuzzExporters(f *testing.F) {
	for _, s := range []string{"f1", "\"", "\\", "\\u0000", "a,b\r\nc", "\xff", "\xe4\xb8", "\x00\x1b[31m", "\u202e\u2028", "", "</script>", "open", "0"} {
		f.Add(uint64(7), s, s, s, s, int64(1), 1.5)
	}
	f.Fuzz(func(t *testing.T, goid uint64, name, track, key, value string, n int64, x float64) {
		if max(len(name), len(track), len(key), len(value)) > format.MaxName {
			return
		}
		data := small(goid&format.MaxGoid, name, track, key, value, n, x)
		tr := tracetest.Open(t, data)
		var b bytes.Buffer
		if _, err := chrome.Write(context.Background(), &b, tr, rows.Options{}); err != nil {
			t.Fatal(err)
		}
		readChrome(t, b.Bytes())
		var file chromeFile
		d := json.NewDecoder(&b)
		d.UseNumber()
		if err := d.Decode(&file); err != nil {
			t.Fatal(err)
		}
		e := file.TraceEvents[len(file.TraceEvents)-1]
		if e.Phase != "X" || e.Name != string([]rune(tr.Name(2))) || len(e.Args) != 4 {
			t.Errorf("%q came out as %v", name, e)
		}
		b.Reset()
		if _, err := perfetto.Write(context.Background(), &b, tr, rows.Options{}); err != nil {
			t.Fatal(err)
		}
		got := readPerfetto(t, b.Bytes(), tr.End())
		if len(got.slices) != 1 || got.slices[0].start != 19 || got.slices[0].end != 29 {
			t.Errorf("%v", got.slices)
		}
	})
}
