package anonymize

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// secrets has SECRET in every field of a trace that can hold bytes. %raw% is SECRET in hexadecimal.
const secrets = `
header pid=4711 clock=monotonic path=go witness=1 start=1000 id=%raw%534543524554
state closed=1 tick=9000
at 192
raw 01000000000000000100000000000000
at 256
raw %raw%
at 1280
raw %raw%
at 3000
raw %raw%
chunk blocks sealed
name 2 "SECRET.scope"
name 3 "SECRET.key"
name 4 "SECRET row"
name 5 "SECRET.mu"
name 6 "x"
name 7 "SECRET %d"
info "program" "/home/SECRET/bin/SECRET"
info "args" "prog --password=SECRET"
info "host" "SECRET"
info "dir" "/home/SECRET"
info "SECRET" "x"
info "go" "go1.26.8 SECRET"
info "os" "linux"
info "arch" "amd64"
info "kernel" "6.18.44-SECRET"
info "module" "SECRET.example/x"
info "version" "v1 SECRET"
info "scopeview" "v1.2.3 SECRET"
info "cpu" "Intel(R) Xeon(R) Processor"
info "path_reason" "opening /home/SECRET: no"
info "clock_reason" "not asked for"
info "filter" "SECRET"
info "snapshot" "2026-11-20T20:00:18Z of SECRET.scope"
info "snapshot_reason" "trigger: SECRET took 2s"
info "future" "SECRET"
info "gotrace" "off: SECRET"
info "thread_switches" "off: SECRET"
info "thread_switches_lost" "SECRET"
info "thread_clock_begin" "12 34"
info "thread_clock_end" "12 34 SECRET"
note ticks=2000 "filter SECRET"
note ticks=2100 "switched off from outside"
note ticks=2200 "trigger: SECRET took 2s; snapshot /SECRET"
frame 1 "SECRET.example/x.(*T).Secret" "/home/SECRET/x.go" line=3 start=1
frame 2 "net/http.(*conn).serve" "/home/SECRET/go/src/net/http/server.go" line=5 start=1
frame 3 "slices.SortFunc[SECRET.example/x.T]" "slices/sort.go" line=7 start=1
frame 4 "runtime.SECRET" "/home/SECRET/runtime.go" line=7 start=1
frame 5 "main.SECRET" "/SECRET/src/main/main.go" line=7 start=1
frame 6 "f" "g" line=7 start=1
frame 458757 "SECRET.example/x.scope" "/home/SECRET/x.go" line=3 start=0
stack 1 1 2 3 4 5 6
count ticks=3000 2:1:5:7
beat ticks=3000 recorded=9
block 77 %raw%
gotrace part=0 %raw%
file source "/home/SECRET/x.go" size=6 offset=0 length=6 010600f9ff%raw%
file executable "/home/SECRET/bin/SECRET" file=2 size=6 offset=0 length=6 010600f9ff%raw%
gotrace part=1 %raw%
frame 262144 "SECRET.example/x.hot" "/home/SECRET/x.go" line=3 start=1
stack 65536 262144
code 65536 0x544552434553 0x454553
samples "task-clock" "nanoseconds" thread=7 base=5000 until=6000 lost=2 kernel:5500:1:10:65536
switch thread=7 base=5000 until=6000 first on out:5500 in:5600
lock mutex #5 ticks=3000 addr=0xdead acquired=9 contended=2 short=1 short_ns=50
gap from=2000 to=3000 count=1 reason=window
chunk blocks sealed
name 8 "SECRET.torn" crc=bad
name 9 "after.it"
chunk records sealed flags=ends,final
go "SECRET row" g=7 start=1500 created=1200 creator=1
track "SECRET row" g=7 start=1600
task "SECRET.scope" @a g=7 start=2000 open=go apart | key:"SECRET.key" string:"SECRET" int:5
task "x" g=7 start=2100 stop=2200 cpu=0/unknown | string:"SECRET" type:"SECRET" cut:2
taskf "SECRET %d" g=7 start=2110 stop=2200 cpu=0/unknown | string:"SECRET SECRET"
process "SECRET.scope" @p g=7 start=2120 open=go apart | user:100 system:200 string:"SECRET"
wait "SECRET.mu" g=7 start=2300 stop=2400 cpu=0/unknown | addr:0xdead string:"SECRET"
wait "SECRET.mu" g=7 start=2310 stop=2390 cpu=0/unknown | addr:0xdead goid:8 uint:0x5443455301 string:"SECRET"
hold "SECRET.mu" g=7 start=2400 stop=2500 cpu=0/unknown | addr:0xdead
hold "SECRET.mu" g=7 start=2410 stop=2500 cpu=0/unknown | addr:0xdead goid:0 uint:0x203
event "SECRET.scope" g=7 start=2600 | string:"SECRET"
counter "SECRET.scope" g=7 start=2700 value=int:42
ext string:"SECRET"
kind-99 "SECRET.scope" g=7 start=2750 w1=0x544552434553 w3=0x544552434553 | string:"SECRET"
end g=7 start=3000 begin=2000 cpu=0/unknown | loc:@a goid:7 string:"SECRET"
end g=7 start=3100 begin=2120 cpu=0/unknown | loc:@p goid:7 user:150 system:260 string:"SECRET"
at 4000
raw %raw%
unborn 1
chunk kind-9 sealed
raw %raw%
bytes
raw %raw%
chunk blocks sealed
stop ticks=9000
`

func planted(t testing.TB) []byte {
	t.Helper()
	lines := strings.ReplaceAll(secrets, "%raw%534543524554", hex.EncodeToString([]byte("SECRETSECRET")))
	return tracetest.Assemble(t, strings.ReplaceAll(lines, "%raw%", hex.EncodeToString([]byte("SECRET"))))
}

// TestG31 checks that none of the planted secrets remain, and everything else does.
func TestG31(t *testing.T) {
	data := planted(t)
	if n := bytes.Count(data, []byte("SECRET")); n < 50 {
		t.Fatalf("only %d are planted", n)
	}
	for _, salt := range []string{"", "x"} {
		after, res := write(t, data, salt)
		for _, s := range []string{"SECRET", "ecret", "home", "Secret"} {
			if i := bytes.Index(after, []byte(s)); i >= 0 {
				t.Errorf("%s is at %d: %q", s, i, after[max(i-40, 0):i+40])
			}
		}
		same(t, data, after)
		tr := tracetest.Open(t, after)
		if h := tr.Header(); h.PID == 4711 || bytes.Contains(data, h.ID[:]) {
			t.Errorf("header %+v", h)
		}
		if firstNonzero(after[format.ControlOffset:4096]) >= 0 {
			t.Error("the control words are there")
		}
		want := map[string]string{
			"go": "go1.26.8", "os": "linux", "arch": "amd64", "kernel": "6.18.44", "scopeview": "v1.2.3", "cpu": "Intel(R) Xeon(R) Processor",
			"clock_reason": "not asked for", "snapshot": "2026-11-20T20:00:18Z",
			"thread_switches": "off", "thread_clock_begin": "12 34",
		}
		for _, i := range tr.Info {
			if want[i.Key] != i.Value {
				t.Errorf("fact %q: %q", i.Key, i.Value)
			}
			delete(want, i.Key)
		}
		if len(want) > 0 {
			t.Errorf("facts that are missing: %q", want)
		}
		if n := tr.Notes; len(n) != 3 || n[1].Text != "switched off from outside" {
			t.Errorf("notes %+v", n)
		}
		if res.Names != 7 || res.Dropped != 5 { // two blocks, a record, two chunks
			t.Errorf("%+v", res)
		}
		n := 0
		var kept []byte
		locks := map[uint64]bool{}
		err := tr.Events(trace.Options{}, func(e *trace.Event) bool {
			if len(e.Args) == 3 && e.Args[1].Type == format.SlotGoid { // from version 1.2 on
				kept = fmt.Append(kept, e.Kind, " ", e.Args[1].Value, " ", e.Args[2].Value, "; ")
				e.Args = e.Args[:1]
			}
			for _, s := range e.Args {
				locks[s.Value] = true
				if s.Type != format.SlotAddr || s.Value == 0xdead {
					t.Errorf("an argument: %+v", s)
				}
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
		if string(kept) != "wait 8 1; hold 0 515; " {
			t.Errorf("of locks there is %s", kept)
		}
		if res.GoTrace != 12 || len(tr.GoTraces()) > 0 {
			t.Errorf("%d bytes of a Go trace were left out, %d are there", res.GoTrace, len(tr.GoTraces()))
		}
		if res.Files != 22 || len(tr.Files()) > 0 {
			t.Errorf("%d bytes of files were left out, %d are there", res.Files, len(tr.Files()))
		}
		err = errors.Join(tr.EachLockSums(func(l *format.LockSums) bool {
			if !locks[l.Addr] || len(locks) != 1 || l.Acquired != 9 || l.Contended != 2 || l.Short != 1 || l.ShortWait != 50 || l.Kind != format.LockMutex {
				t.Errorf("%+v, of the locks %v", l, locks)
			}
			n++
			return true
		}), tr.EachSwitches(func(s *format.Switches) bool {
			if s.Thread != 7 || !s.First || !s.On || s.Base != 5000 || s.Until != 6000 || len(s.List) != 2 || s.List[1] != (format.Switch{Time: 5600}) {
				t.Errorf("%+v", s)
			}
			n++
			return true
		}))
		if n != 2 || err != nil {
			t.Errorf("%d blocks of switches and locks, %v", n, err)
		}
		n = 0
		err = tr.EachSample(func(s *trace.Sample) bool {
			if s.Thread != 7 || s.Counter != "task-clock" || s.Unit != "nanoseconds" || !s.Kernel || s.CPU != 1 || s.Weight != 10 || len(tr.AppendFrames(nil, s.Stack)) != 1 || tr.PCs(s.Stack) != nil {
				t.Errorf("%+v, at %#x", s, tr.PCs(s.Stack))
			}
			n++
			return true
		})
		if c := tr.Counters(); n != 1 || err != nil || len(c) != 1 || c[0].Lost != 2 {
			t.Errorf("%d samples of %v, %v", n, c, err)
		}
		for _, f := range findings(t, after) {
			t.Errorf("verify: at %d: %s: %s", f.Offset, f.Rule, f.Text)
		}
	}
	t.Logf("G31: %d secrets planted in all parts of a trace, 0 left in its anonymized copy", bytes.Count(data, []byte("SECRET")))
}

func firstNonzero(b []byte) int {
	return bytes.IndexFunc(b, func(r rune) bool { return r != 0 })
}

func TestFrames(t *testing.T) {
	for _, test := range []struct{ function, file, wantFunction, wantFile string }{
		{"net/http.(*conn).serve", "/usr/go/src/net/http/server.go", "net/http.(*conn).serve", "net/http/server.go"},
		{"net/http.(*conn).serve", "net/http/server.go", "net/http.(*conn).serve", "net/http/server.go"},
		{"runtime.goexit", `C:\go\src\runtime\asm_amd64.s`, "runtime.goexit", "runtime/asm_amd64.s"},
		{"slices.SortFunc[a.example/b.T]", "slices/sort.go", "slices.SortFunc[...]", "slices/sort.go"},
		{"slices.SortFunc[go.shape.struct { X a.example/b.T }].func1", "slices/sort.go", "slices.SortFunc[...].func1", "slices/sort.go"},
		{"net/http.linknamed", "/home/x/mine.go", "", ""},
		{"net/secret.F", "net/secret/x.go", "", ""},
		{"main.main", "main/main.go", "", ""},
		{"noPackage", "x.go", "", ""},
		{"", "", "-", "-"},
	} {
		a := &anonymizer{hash: newHasher("x")}
		f := format.Frame{Function: test.function, File: test.file}
		size := len(format.AppendFrame(nil, &f))
		a.frame(&f, size)
		if got := len(format.AppendFrame(nil, &f)); (got+7)&^7 > (size+7)&^7 {
			t.Errorf("%q: the block grows from %d to %d bytes", test.function, size, got)
		}
		switch {
		case test.wantFunction == "-":
			if f.Function != "" || f.File != "" {
				t.Errorf("%+v", f)
			}
		case test.wantFunction == "":
			if f.Function == test.function || f.File == test.file || strings.ContainsAny(f.Function+f.File, "./") {
				t.Errorf("%q in %q: %+v", test.function, test.file, f)
			}
		case f.Function != test.wantFunction || f.File != test.wantFile:
			t.Errorf("%q in %q: %+v", test.function, test.file, f)
		}
	}
}
