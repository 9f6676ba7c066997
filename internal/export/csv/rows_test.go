package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

var texts = map[uint16]string{
	2: "f1", 3: "worker 1", 4: "bytes", 5: "=HYPERLINK(\"http://x\",A1)", 6: "a,b", 7: "a\"b", 8: "two\nlines",
	9: "\xff\xfe", 10: " blank", 11: "+1", 12: "-1", 13: "@x", 14: "\tx", 15: "\rx", 16: "load %s", 17: "naïve 世", 18: `\.`,
	19: " =1", 20: "\u200b=1", 21: "\x00-1", 22: "\uff1d1", 23: "a=1",
}

func text(id uint16) string { return texts[id] }

// row formats one event, without the line's end.
func row(e trace.Event, raw bool, breaks ...trace.Break) string {
	return strings.TrimSuffix(string(newRows(text, breaks, raw).appendEvent(nil, &e)), "\n")
}

func TestRows(t *testing.T) {
	str := func(s string) format.Slot { return format.Slot{Type: format.SlotString, Str: []byte(s), Full: len(s)} }
	num := func(n int64) format.Slot { return format.Slot{Type: format.SlotInt, Value: uint64(n)} }
	for _, test := range []struct {
		about string
		e     trace.Event
		want  string
	}{
		{"exact", trace.Event{Kind: format.KindTask, Name: 2, Track: 3, Goid: 18, Thread: 4711, Depth: 2, Start: 1500, Dur: 250, Quality: format.Exact, CPU: 240},
			`task,f1,worker 1,18,4711,2,1500,250,240,,false,`},
		{"likely", trace.Event{Kind: format.KindTask, Name: 2, Quality: format.Likely, Dur: 25_000, CPU: 20_000}, `task,f1,,,,0,0,25000,20000,,false,`},
		{"at most", trace.Event{Kind: format.KindTask, Name: 2, Quality: format.AtMost, Dur: 9, CPU: 8}, `task,f1,,,,0,0,9,,8,false,`},
		{"unknown", trace.Event{Kind: format.KindTask, Name: 2, Dur: 9, CPU: 8}, `task,f1,,,,0,0,9,,,false,`},
		{"open", trace.Event{Kind: format.KindTask, Name: 2, Open: true, Dur: 1e9}, `task,f1,,,,0,0,1000000000,,,true,`},
		{"named argument", trace.Event{Kind: format.KindTask, Name: 2, Args: []format.Slot{num(7), {Type: format.SlotKey, Value: 4}, num(512)}, EndArgs: []format.Slot{str("ok")}},
			`task,f1,,,,0,0,0,,,false,"{""0"":7,""bytes"":512,""1"":""ok""}"`},
		{"taskf", trace.Event{Kind: format.KindTaskf, Name: 16, Args: []format.Slot{str("f.go")}},
			`task,load %s,,,,0,0,0,,,false,"{""text"":""load f.go"",""0"":""f.go""}"`},
		{"process", trace.Event{Kind: format.KindProcess, Name: 2, Dur: 100, Quality: format.Exact, CPU: 390, User: 300, System: 90},
			`process,f1,,,,0,0,100,390,,false,"{""user_ns"":300,""sys_ns"":90}"`},
		{"event", trace.Event{Kind: format.KindEvent, Name: 2, Start: 5}, `event,f1,,,,0,5,0,,,false,`},
		{"pending", trace.Event{Kind: format.KindPending, Name: 2, Start: 5, User: -1, System: -1}, `pending,f1,,,,0,5,0,,,false,`},
		{"pending, open", trace.Event{Kind: format.KindPending, Name: 2, Start: 5, Open: true}, `pending,f1,,,,0,5,0,,,true,`},
		{"counter", trace.Event{Kind: format.KindCounter, Name: 2, ValueType: format.SlotInt, Value: 1<<64 - 3}, `counter,f1,,,,0,0,0,,,false,"{""value"":-3}"`},
		{"wait", trace.Event{Kind: format.KindWait, Name: 2, Dur: 3, Args: []format.Slot{{Type: format.SlotAddr, Value: 0xc000010080}}},
			`wait,f1,,,,0,0,3,,,false,"{""addr"":""0xc000010080""}"`},
		{"hold", trace.Event{Kind: format.KindHold, Name: 2, Dur: 3, Args: []format.Slot{{Type: format.SlotAddr, Value: 16}}},
			`hold,f1,,,,0,0,3,,,false,"{""addr"":""0x10""}"`},
		{"track: no row", trace.Event{Kind: format.KindTrack, Name: 2}, ``},
		{"go: no row", trace.Event{Kind: format.KindGo, Name: 2}, ``},
		{"a later version's kind: no row", trace.Event{Kind: 99, Name: 2}, ``},
		{"formula", trace.Event{Kind: format.KindTask, Name: 5, Track: 11}, `task,"'=HYPERLINK(""http://x"",A1)",'+1,,,0,0,0,,,false,`},
		{"formula", trace.Event{Kind: format.KindTask, Name: 12, Track: 13}, `task,'-1,'@x,,,0,0,0,,,false,`},
		{"formula", trace.Event{Kind: format.KindTask, Name: 14, Track: 15}, "task,'\tx,\"'\rx\",,,0,0,0,,,false,"},
		{"formula behind a blank", trace.Event{Kind: format.KindTask, Name: 19, Track: 20}, "task,' =1,'\u200b=1,,,0,0,0,,,false,"},
		{"formula behind what is not seen, in full width", trace.Event{Kind: format.KindTask, Name: 21, Track: 22}, "task,'\x00-1,'\uff1d1,,,0,0,0,,,false,"},
		{"no formula", trace.Event{Kind: format.KindTask, Name: 23}, "task,a=1,,,,0,0,0,,,false,"},
		{"quotes", trace.Event{Kind: format.KindTask, Name: 6, Track: 7}, `task,"a,b","a""b",,,0,0,0,,,false,`},
		{"lines", trace.Event{Kind: format.KindTask, Name: 8, Track: 10}, "task,\"two\nlines\",\" blank\",,,0,0,0,,,false,"},
		{"characters", trace.Event{Kind: format.KindTask, Name: 9, Track: 17}, "task,\ufffd\ufffd,naïve 世,,,0,0,0,,,false,"},
		{"end of input", trace.Event{Kind: format.KindTask, Name: 18}, `task,"\.",,,,0,0,0,,,false,`},
	} {
		if got := row(test.e, false); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.about, got, test.want)
		}
	}
}

func TestRaw(t *testing.T) {
	if got, want := row(trace.Event{Kind: format.KindTask, Name: 11, Track: 13}, true), `task,+1,@x,,,0,0,0,,,false,`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestClockStep(t *testing.T) {
	step := trace.Break{From: 100, To: 900}
	if got, want := row(trace.Event{Kind: format.KindTask, Name: 2, Start: 50, Dur: 900}, false, step), `task,f1,,,,0,50,,,,false,`; got != want {
		t.Errorf("across: %s, want %s", got, want)
	}
	if got, want := row(trace.Event{Kind: format.KindTask, Name: 2, Start: 900, Dur: 9}, false, step), `task,f1,,,,0,900,9,,,false,`; got != want {
		t.Errorf("behind: %s, want %s", got, want)
	}
}

func TestBeatRow(t *testing.T) {
	b := trace.Beat{Time: 77, Values: []format.FieldValue{{Field: format.FieldUser, Value: 5}, {Field: format.FieldRSS, Value: -1}, {Field: 999, Value: 2}}}
	got := string(newRows(text, nil, false).appendBeat(nil, &b))
	want := "heartbeat,,,,,,77,0,,,false,\"{\"\"user_ns\"\":5,\"\"rss_bytes\"\":-1,\"\"field-999\"\":2}\"\n"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := len(parse(t, got)[0]); n != strings.Count(Header, ",")+1 {
		t.Errorf("%d columns", n)
	}
}

func TestRowsDoNotAllocate(t *testing.T) {
	r := newRows(text, analysis.Breaks{}, false)
	e := trace.Event{Kind: format.KindTask, Name: 5, Track: 3, Goid: 1e6, Thread: 5e5, Start: 1e15, Dur: 1e12, Quality: format.Exact, CPU: 1e9,
		Args: []format.Slot{{Type: format.SlotInt, Value: 512}, {Type: format.SlotKey, Value: 4}, {Type: format.SlotString, Str: []byte("x\"\xffy"), Full: 4}}}
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { b = r.appendEvent(b[:0], &e) }); n != 0 {
		t.Errorf("%v allocations for %s", n, b)
	}
}

func parse(t *testing.T, s string) [][]string {
	t.Helper()
	rows, err := stdcsv.NewReader(strings.NewReader(s)).ReadAll()
	if err != nil {
		t.Fatalf("%v in %q", err, s)
	}
	return rows
}

// FuzzRow: for any names, keys and arguments, a row has twelve cells that encoding/csv and
// encoding/json read back unchanged, except for broken UTF-8 and the apostrophe.
func FuzzRow(f *testing.F) {
	for _, s := range []string{"f1", "=1+1", "\"", "a,b\r\nc", "\xff", "\x00\x1b[31m", "\u202e", "", "'"} {
		f.Add(s, s, s, int64(1), 1.5)
	}
	f.Fuzz(func(t *testing.T, name, key, value string, n int64, x float64) {
		if len(value) > format.MaxString {
			return
		}
		names := []string{"", "", name, key}
		r := newRows(func(id uint16) string { return names[id] }, nil, false)
		e := trace.Event{Kind: format.KindTask, Name: 2, Track: 2, Goid: uint64(n), Start: n, Dur: n, Args: []format.Slot{
			{Type: format.SlotKey, Value: 3}, {Type: format.SlotString, Str: []byte(value), Full: len(value)},
			{Type: format.SlotInt, Value: uint64(n)}, {Type: format.SlotFloat, Value: math.Float64bits(x)}}}
		line := r.appendEvent(nil, &e)
		if !utf8.Valid(line) {
			t.Fatalf("%q is not UTF-8", line)
		}
		d := stdcsv.NewReader(bytes.NewReader(line))
		cells, err := d.Read()
		if err != nil || len(cells) != 12 {
			t.Fatalf("%d cells, %v: %q", len(cells), err, line)
		}
		if more, err := d.Read(); err != io.EOF {
			t.Fatalf("a second row: %q, %v", more, err)
		}
		want := string([]rune(name))
		if formula(want) {
			want = "'" + want
		}
		// encoding/csv reads \r\n in a cell as \n.
		if got := cells[1]; got != strings.ReplaceAll(want, "\r\n", "\n") || formula(got) {
			t.Fatalf("name %q came out as %q", name, got)
		}
		var args map[string]any
		decode := json.NewDecoder(strings.NewReader(cells[11]))
		decode.UseNumber()
		if err := decode.Decode(&args); err != nil {
			t.Fatalf("%v in %q", err, cells[11])
		}
		if len(args) != 3 {
			t.Fatalf("%d arguments in %q", len(args), cells[11])
		}
		if utf8.ValidString(key) && utf8.ValidString(value) && key != "0" && key != "1" && args[key] != value {
			t.Fatalf("%q: %q came out as %q", key, value, args[key])
		}
	})
}
