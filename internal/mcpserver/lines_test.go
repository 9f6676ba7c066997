package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// talk is a session of a server with a client that writes lines.
type talk struct {
	t     testing.TB
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

// say starts a session, and performs the handshake.
func say(t testing.TB, traces ...string) *talk {
	t.Helper()
	s, err := New(Options{Traces: traces, Timeout: time.Minute, Memory: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	k := &talk{t: t, in: inW, out: bufio.NewReader(outR), ended: make(chan error, 1)}
	go func() {
		k.ended <- s.Run(context.Background(), inR, outW)
		outW.Close()
	}()
	deadline := time.AfterFunc(30*time.Second, func() { inW.Close(); outR.CloseWithError(os.ErrDeadlineExceeded) })
	t.Cleanup(func() { deadline.Stop() })
	k.write(hello)
	if a := k.answers(1); string(a[0].ID) != `"hello"` || a[0].Error != nil {
		t.Fatalf("it shakes no hands: %+v", a)
	}
	return k
}

func (k *talk) write(text string) {
	go io.WriteString(k.in, text) // the pipe has no buffer: answers are read meanwhile
}

// answers reads n answers, in single lines or in one batch.
func (k *talk) answers(n int) (all []answer) {
	k.t.Helper()
	for len(all) < n {
		text, err := k.out.ReadBytes('\n')
		if err != nil {
			k.t.Fatalf("%d answers and not %d: %v; the server's end: %v", len(all), n, err, <-k.ended)
		}
		var one answer
		if text[0] == '[' {
			err = json.Unmarshal(text, &all)
		} else if err = json.Unmarshal(text, &one); err == nil {
			if !bytes.Contains(text, append([]byte(`"id":`), one.ID...)) {
				k.t.Fatalf("%s", text)
			}
			all = append(all, one)
		}
		if err != nil {
			k.t.Fatalf("%s: %v", text, err)
		}
	}
	return all
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

// TestG45Lines: after any line, the server answers as JSON-RPC specifies, and then answers the next
// request, with its id unchanged.
func TestG45Lines(t *testing.T) {
	const none = "" // no answer
	parse, invalid, method, params := " -32700", " -32600", " -32601", " -32602"
	x := func(members string) string { return `{"jsonrpc":"2.0",` + members + `}` }
	long := strings.Repeat("x", largestCall)
	for _, c := range []struct{ name, in, want string }{
		{"no JSON", "hello", "null" + parse},
		{"half an object", `{"jsonrpc":"2.0","id":2,`, "null" + parse},
		{"a comma too many", `{"jsonrpc":"2.0","id":2,"method":"ping",}`, "null" + parse},
		{"two values", ping("2") + ping("3"), "null" + parse},
		{"text behind", ping("2") + " x", "null" + parse},
		{"an empty line", "", none},
		{"blanks", " \t ", none},
		{"only CR", "\r", none},
		{"CRLF", ping("2") + "\r", "2"},
		{"a string", `"x"`, "null" + invalid},
		{"a number", "17", "null" + invalid},
		{"null", "null", "null" + invalid},
		{"an empty object", "{}", "null" + invalid},
		{"an empty array", "[]", "null" + invalid},
		{"an array of none", "[1]", "null" + invalid},
		{"a batch", "[" + ping("2") + "," + ping(`"2"`) + "," + x(`"method":"notifications/x"`) + ",{}]", "null" + invalid + ` 2 "2"`},
		{"a batch of notifications", "[" + x(`"method":"notifications/x"`) + "]", none},
		{"a batch of one id", "[" + ping("2") + "," + ping("2") + "]", "null" + invalid + " 2"},
		{"a broken batch", "[" + ping("2") + ",", "null" + parse},
		{"NUL", "\x00", "null" + parse},
		{"zeros", strings.Repeat("\x00", 4096), "null" + parse},
		{"NUL in a string", x("\"id\":\"\x00\",\"method\":\"ping\""), "null" + parse},
		{"no UTF-8", x("\"id\":\"\xff\",\"method\":\"ping\""), "null" + parse},
		{"UTF-16", "\xff\xfe{\x00}\x00", "null" + parse},
		{"a mark in the middle", "\uFEFF" + ping("2"), "null" + parse},
		{"half a surrogate", ping(`"\ud800"`), `"\ud800"`},
		{"no version", `{"id":2,"method":"ping"}`, "2" + invalid},
		{"another version", `{"jsonrpc":"1.0","id":2,"method":"ping"}`, "2" + invalid},
		{"a number as version", `{"jsonrpc":2.0,"id":2,"method":"ping"}`, "2" + invalid},
		{"no method", x(`"id":2`), "2" + invalid},
		{"a number as method", x(`"id":2,"method":1`), "2" + invalid},
		{"null as method", x(`"id":2,"method":null`), "2" + invalid},
		{"an empty method", x(`"id":2,"method":""`), "2" + method},
		{"a method that is none", x(`"id":2,"method":"record/start"`), "2" + method},
		{"members in capitals", `{"JSONRPC":"2.0","ID":2,"METHOD":"ping"}`, "null" + invalid},
		{"a string as params", x(`"id":2,"method":"tools/list","params":"x"`), "2" + invalid},
		{"true as params", x(`"id":2,"method":"tools/list","params":true`), "2" + invalid},
		{"an array as params", x(`"id":2,"method":"tools/call","params":[1]`), "2" + params},
		{"null as params", x(`"id":2,"method":"ping","params":null`), "2"},
		{"wrong params", x(`"id":2,"method":"tools/call","params":{"name":[1]}`), "2" + params},
		{"deep params", x(`"id":2,"method":"tools/call","params":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)), "2" + params},
		{"deep", strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "null" + parse},
		{"an id twice", x(`"id":2,"id":3,"method":"ping"`), "null" + invalid},
		{"a method twice", x(`"id":2,"method":"ping","m\u0065thod":"tools/list"`), "2" + invalid},
		{"null as id", ping("null"), "null" + invalid},
		{"true as id", ping("true"), "null" + invalid},
		{"an object as id", ping(`{"a":1}`), "null" + invalid},
		{"an array as id", ping(`[2]`), "null" + invalid},
		{"a large id", ping("9007199254740993"), "9007199254740993"},
		{"a huge id", ping("1234567890123456789012345678901234567890"), "1234567890123456789012345678901234567890"},
		{"a negative id", ping("-1"), "-1"},
		{"a fraction as id", ping("1.50"), "1.50"},
		{"an exponent as id", ping("1e400"), "1e400"},
		{"an empty id", ping(`""`), `""`},
		{"a marked-up id", ping(`"<&>\u0061\/é"`), `"<&>\u0061\/é"`},
		{"a long id", ping(`"` + long[:100_000] + `"`), `"` + long[:100_000] + `"`},
		{"a long line", x(`"id":2,"method":"tools/call","params":{"name":"` + long + `"}`), "2" + invalid},
		{"a long line without an id", x(`"method":"notifications/x","params":{"name":"` + long + `"}`), "null" + invalid},
		{"a long line of nothing", strings.Repeat("[", 1<<20), "null" + invalid},
		{"a long string as an id", ping(`"` + long + `"`), "null" + invalid},
		{"a notification", x(`"method":"notifications/x"`), none},
		{"a notification with a string", x(`"method":"notifications/x","params":"x"`), none},
		{"a call without an id", x(`"method":"ping"`), none},
		{"a notification with an id", x(`"id":2,"method":"notifications/initialized"`), "2" + invalid},
		{"a notification without a version", `{"method":"notifications/x"}`, "null" + invalid},
		{"a number as a notification", x(`"method":1,"params":"bar"`), "null" + invalid},
		{"calling off nothing", x(`"method":"notifications/cancelled"`), none},
		{"calling off an object", x(`"method":"notifications/cancelled","params":{"requestId":{}}`), none},
		{"calling off what is not there", x(`"method":"notifications/cancelled","params":{"requestId":2}`), none},
		{"an answer", x(`"id":2,"result":{}`), none},
		{"an error", x(`"id":null,"error":{"code":-32700,"message":"x"}`), none},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := say(t, t.TempDir())
			const last = "9007199254740993.10"
			k.write(c.in + "\n" + ping(last) + "\n")
			fields := strings.Fields(c.want)
			want := []string{last}
			for i := 0; i < len(fields); i++ {
				one := fields[i]
				if i+1 < len(fields) && strings.HasPrefix(fields[i+1], "-32") {
					i++
					one += " " + fields[i]
				}
				want = append(want, one)
			}
			var got []string
			for len(got) < len(want) { // a batch may be answered last
				for _, a := range k.answers(1) {
					one := string(a.ID)
					if a.Error != nil {
						one += fmt.Sprint(" ", a.Error.Code)
						if len(a.Error.Message) > mostError || a.Error.Message == "" || a.Result != nil {
							t.Errorf("%+v", a)
						}
					}
					got = append(got, one)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%.300q is answered by %.300q, want %.300q", c.in, got, want)
			}
			k.in.Close()
			if err := <-k.ended; err != nil {
				t.Errorf("it ends with %v", err)
			}
		})
	}
}

// TestG45LongLine: a line of 100 MB is skipped in little memory.
func TestG45LongLine(t *testing.T) {
	k := say(t, t.TempDir())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		part := bytes.Repeat([]byte("[1,2],"), 1<<20/6)
		for n := 0; n < 100e6; n += len(part) {
			k.in.Write(part)
		}
		io.WriteString(k.in, "\n"+ping("7")+"\n")
	}()
	if a := k.answers(2); a[0].Error == nil || a[0].Error.Code != jsonrpc.CodeInvalidRequest || string(a[1].ID) != "7" {
		t.Errorf("%+v", a)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
		t.Errorf("it took %d bytes of memory", took)
	}
}

// TestLinesCalls: a call is cancelled by its id, its id can't be reused meanwhile, and calls made
// before the input ended are answered.
func TestLinesCalls(t *testing.T) {
	dir := t.TempDir()
	assemble(t, filepath.Join(dir, "a.scope"), fmt.Sprintf(contended, 101000))
	s, err := New(Options{Traces: []string{dir}, Timeout: time.Minute, Memory: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.turn <- struct{}{} // all calls wait
	const call = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"list"}}` + "\n"
	in := hello + fmt.Sprintf(call, "9007199254740993") + fmt.Sprintf(call, "9007199254740993") +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740992}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}` + "\n"
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Run(t.Context(), inR, outW)
		outW.Close()
	}()
	k := &talk{t: t, in: inW, out: bufio.NewReader(outR), ended: ended}
	k.write(in)
	got := map[string]answer{}
	for _, a := range k.answers(3) {
		got[string(a.ID)] = a
	}
	if a := got["null"]; a.Error == nil || a.Error.Code != jsonrpc.CodeInvalidRequest {
		t.Errorf("the id of a call that runs: %+v", a)
	}
	a := got["9007199254740993"] // which of the two comes depends on whether the call had begun
	if off := a.Error != nil && strings.Contains(a.Error.Message, "cancel"); !off && !bytes.Contains(a.Result, []byte("cancel")) {
		t.Errorf("called off: %s, %+v", a.Result, a.Error)
	}
	if _, err := io.WriteString(inW, fmt.Sprintf(call, "5")+strings.TrimSuffix(fmt.Sprintf(call, "6"), "\n")); err != nil {
		t.Fatal(err)
	}
	inW.Close()
	<-s.turn
	for _, x := range k.answers(2) {
		if x.Error != nil || !bytes.Contains(x.Result, []byte("a.scope")) {
			t.Errorf("asked before the end: %+v", x)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// FuzzLines: no line ends the server, and each valid request behind one is answered.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "x", "{", "[]", "\x00", "\xff", "\uFEFF{}", "\r", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"},1]`,
		`{"jsonrpc":"2.0","id":[1],"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{}}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":null}`,
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > largestCall {
			return
		}
		k := say(t, dir)
		const id = `"the last one, \u0061"`
		k.write(text + "\n" + ping(id) + "\n")
		for found := false; !found; {
			for _, a := range k.answers(1) {
				found = found || string(a.ID) == id
			}
		}
		k.in.Close()
		go io.Copy(io.Discard, k.out)
		if err := <-k.ended; err != nil {
			t.Errorf("it ends with %v", err)
		}
	})
}
