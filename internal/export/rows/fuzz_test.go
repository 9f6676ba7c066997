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
)

// small returns a trace of one scope, with arguments, on a row with a name.
func small(goid uint64, name, track, key, value string, n int64, x float64) []byte {
	const chunk = 16 << 10
	b := make([]byte, 3*chunk)
	format.AppendHeader(b[:0], &format.Header{
		Major: format.Major, Minor: format.Minor, ChunkSize: chunk, PageSize: 4096, PID: 1, Clock: format.ClockMonotonic,
		Path: format.PathGo, Backing: format.BackingDisk, StartTicks: 1, StartMono: 1, TickRate: 1_000_000_000,
	})
	format.PutChunkHeader(b[chunk:], &format.ChunkHeader{Kind: format.ChunkBlocks, Index: 1, Since: 1, Gen: 1})
	p := b[chunk : chunk+format.ChunkHeaderSize]
	for id, s := range []string{2: name, 3: track, 4: key} {
		if id >= format.FirstName {
			p = format.AppendBlock(p, format.BlockName, format.AppendName(nil, uint16(id), s))
		}
	}
	format.AppendBlock(p, format.BlockInfo, format.AppendInfo(nil, "program", name))
	format.PutChunkHeader(b[2*chunk:], &format.ChunkHeader{Kind: format.ChunkRecords, Path: format.PathGo, Index: 2, Since: 1, Gen: 1})
	p = b[2*chunk : 2*chunk+format.ChunkHeaderSize]
	p = format.AppendRecord(p, &format.Record{Start: 10, Head: format.Head(goid, format.KindTrack, false, 3)})
	p = format.AppendRecord(p, &format.Record{Start: 20, Stop: 30, Head: format.Head(goid, format.KindTask, true, 2)})
	_, err := format.AppendExt(p, []format.Slot{
		{Type: format.SlotKey, Value: 4}, {Type: format.SlotString, Str: []byte(value), Full: len(value)},
		{Type: format.SlotInt, Value: uint64(n)}, {Type: format.SlotFloat, Value: math.Float64bits(x)},
		{Type: format.SlotType_, Str: []byte(value), Full: len(value)},
	})
	if err != nil {
		panic(err)
	}
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
