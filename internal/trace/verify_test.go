package trace_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// sound is a trace without defects. The cases change a line.
const sound = `header path=assembly witness=7
state closed=1 tick=9000
chunk blocks sealed
name 2 "f1"
name 3 "f2"
calib ticks=1000 mono=0 wall=5 bracket=9
calib ticks=2000 mono=1000 wall=1005 bracket=9
beat ticks=2000 user_ns=10 rss_bytes=100
thread ticks=2000 5:1:-1
beat ticks=3000 user_ns=11 rss_bytes=90
info "program" "demo"
gap from=2500 to=2600 count=3 reason=io
break before=2700 after=2800
note ticks=3000 "filter"
frame 0 "main.f" "/src/main.go" line=5 start=3 inlined
frame 1 "main.main" "/src/main.go" line=9 start=8
stack 1 0 1
count ticks=3000 2:1:5:50 3:0:1:-1
gotrace stream=1 part=0 676f20312e32
switch thread=12 base=500 until=900 first on out:600 in:650
lock mutex #3 ticks=3000 addr=0x10 acquired=5 contended=1
stop ticks=9000
chunk records owner=0 flags=final sealed
anchor start=1000 thread=12 cpu=5
task "f1" @a g=7 start=2000 open tid=12 | key:"f2" int:5 bool:true string:"abc"/2000
process "f1" @p g=7 start=2001 open tid=12 | user:1 system:2
pending "f2" g=7 start=2010 stop=2020 cpu=3/exact
event "f1" g=7 start=2030 | cut:2
counter "f2" g=7 start=2040 value=float:1.5
wait "f1" g=7 start=2050 stop=2060 cpu=0/unknown | addr:0x10
hold "f1" g=7 start=2060 stop=2070 cpu=9/most | addr:0x10
track "f2" g=7 start=2080
go "f2" g=8 start=2090 created=2085 creator=7
taskf "f1" g=7 start=2100 stop=2200 cpu=9/likely | type:"T" float:1 uint:3 duration:5
chunk records owner=1 flags=ends,final sealed
anchor start=3000 thread=13 cpu=-1
end "f1" g=8 start=4000 begin=2000 cpu=100/likely | loc:@a goid:7 int:9
end "f1" g=7 start=4001 begin=2001 cpu=0/unknown | loc:@p goid:7 user:5 system:6
chunk records owner=0 path=go flags=ends,final sealed
task "f1" g=9 start=6000 open=go
task "f1" @b g=9 start=5000 open=go
end "f1" g=9 start=6001 begin=5000 cpu=0/unknown | loc:@b goid:9
`

// holeOfGo is one more chunk, with two places in which no writer had begun a record.
const holeOfGo = `chunk records owner=9 path=go flags=final sealed
hole 2
task "f1" g=9 start=6000 open=go
`

// verifyCase changes a line of a sound trace.
type verifyCase struct {
	name     string
	old, new string
	want     []string
}

var verifyCases = []verifyCase{
	{"sound", "", "", nil},
	{"clock", "header", "header clock=9", []string{"24 header-values"}},
	{"path", "path=assembly witness", "path=9 witness", []string{"28 header-values", "4101 chunk-values", "8197 chunk-values", "12293 chunk-values"}},
	{"backing", "header", "header backing=9", []string{"30 header-values"}},
	{"witness", "witness=7", "witness=8", []string{"32 header-values"}},
	{"page", "header", "header page=5000", []string{"16 header-values"}},
	{"rate", "header", "header clock=monotonic rate=5", []string{"76 header-values", "8448 record-cpu"}},
	{"header reserved", "chunk blocks", "at 93\nraw 01\nat 4000\nraw 01\nchunk blocks", []string{"0 FAILURE"}},
	{"chunk 0 reserved", "chunk blocks", "at 100\nraw 01\nat 4000\nraw 01\nchunk blocks", []string{"100 header-reserved", "4000 header-reserved"}},
	{"closed", "state closed=1", "state closed=2", []string{"128 state", "4992 block-stop"}},
	{"tick", "tick=9000", "tick=5", []string{"136 state"}},
	{"lost", "tick=9000", "tick=9000 lost=-5", []string{"152 state"}},
	{"joined, of a disk", "tick=9000", "tick=9000 joined=1", []string{"176 state"}},
	{"joined", "tick=9000", "tick=9000 joined=2", []string{"176 state"}},
	{"end", "tick=9000", "tick=9000 end=8192", []string{"144 state-end"}},
	{"end beyond the file", "tick=9000", "tick=9000 end=80000", []string{"144 state-end", "144 state-end"}},
	{"size", "", "unborn\ntruncate 21000\n", []string{"144 state-end", "144 state-end", "21000 file-size"}},
	{"chunk index", "chunk records owner=0 path=go", "chunk records index=9 path=go", []string{"16384 chunk-header"}},
	{"chunk kind", "chunk records owner=0 path=go", "unborn\nchunk kind-5\nchunk records owner=0 path=go", []string{"20484 chunk-values"}},
	{"unborn and not zero", "", "bytes\nat 70\nraw 01\n", []string{"144 state-end", "20550 chunk-unborn"}},
	{"generation", "chunk blocks", "chunk blocks gen=2", []string{"4120 chunk-values"}},
	{"flags", "flags=final sealed", "flags=10 sealed", []string{"8220 chunk-values"}},
	{"chunk reserved", "anchor start=1000", "at 60\nraw 01\nat 64\nanchor start=1000", []string{"8192 chunk-values"}},
	{"since", "chunk blocks", "chunk blocks since=5", []string{"4112 chunk-since"}},
	{"final, not sealed", "owner=0 flags=final sealed", "owner=0 flags=final", []string{"8220 chunk-sealed"}},
	{"sealed oddly", "owner=0 flags=final sealed", "owner=0 flags=final sealed=4001", []string{"8224 chunk-sealed", "8864 record-hole"}},
	{"tail", "loc:@b goid:9\n", "loc:@b goid:9\nat 4000\nraw 01\nat 192\n", []string{"20384 chunk-tail"}},
	{"tail of a begin that went elsewhere", "chunk records owner=1", "at 4000\nraw 01\nat 672\nchunk records owner=1", nil},
	{"block tail", "chunk blocks sealed", "chunk blocks sealed=528", []string{"0 block-stop", "4624 chunk-tail"}},
	{"hole", "track \"f2\"", "hole 2\ntrack \"f2\"", []string{"8704 record-hole"}},
	{"hole on the go path", "stop ticks=9000\n", "stop ticks=9000\n" + holeOfGo, []string{"8256 record-hole"}},
	{"hole in a snapshot", "stop ticks=9000\n", "info \"snapshot\" \"x\"\nstop ticks=9000\n" + holeOfGo, nil},
	{"hole in a snapshot, one writer", "stop ticks=9000\n", "info \"snapshot\" \"x\"\nstop ticks=9000\n" + strings.Replace(holeOfGo, "path=go", "path=assembly", 1),
		[]string{"8256 record-hole", "8320 record-anchor"}},
	{"orphan", "track \"f2\"", "ext int:5\ntrack \"f2\"", []string{"8704 record-orphan"}},
	{"no time", "track \"f2\"", "raw ffffffffffffffff000000000000000000000000000000000000000000000000\ntrack \"f2\"", []string{"8704 record-start"}},
	{"early", "chunk records owner=1", "chunk records since=3001", []string{"12352 record-start"}},
	{"order", "track \"f2\" g=7 start=2080", "track \"f2\" g=7 start=2039", []string{"8704 record-order"}},
	{"a hold that is recorded at its end", "hold \"f1\" g=7 start=2060", "hold \"f1\" g=7 start=2035", nil},
	{"kind", "track \"f2\"", "kind-99 \"f2\"", []string{"8704 record-kind"}},
	{"name", "track \"f2\"", "track #9", []string{"8704 record-name"}},
	{"key", "key:\"f2\"", "key:#9", []string{"8288 record-name"}},
	{"event", "track \"f2\"", "track \"f2\" w1=1", []string{"8704 record-words"}},
	{"counter", "value=float:1.5", "value=string:\"x\"", []string{"8544 record-words"}},
	{"go", "created=2085", "created=2095", []string{"8736 record-words"}},
	{"anchor", "thread=13 cpu=-1", "thread=13 cpu=-2", []string{"12352 record-words"}},
	{"stop", "stop=2020", "stop=2009", []string{"8448 record-stop"}},
	{"cpu", "cpu=3/exact", "cpu=11/exact", []string{"8448 record-cpu"}},
	{"exact", "stop=2020 cpu=3/exact", "stop=23000 cpu=3/exact", []string{"8448 record-cpu"}},
	{"cpu apart", "cpu=100/likely", "cpu=2001/likely", []string{"12384 record-cpu"}},
	{"open thread", "start=2000 open tid=12", "start=2000 open tid=11", []string{"8288 record-open"}},
	{"open go", "start=6000 open=go", "start=6000 open tid=5", []string{"16448 record-open"}},
	{"no anchor", "anchor start=3000 thread=13 cpu=-1\n", "", []string{"12352 record-anchor"}},
	{"anchor in the go path", "task \"f1\" g=9 start=6000 open=go", "anchor start=6000 thread=1 cpu=0", []string{"16448 record-anchor"}},
	{"ext missing", "track \"f2\" g=7 start=2080", "track \"f2\" g=7 start=2080 noext", []string{"8704 ext-missing"}},
	{"ext too long", "cut:2", "raw:02f0000000000070020000000000000000000000000000000000000000000000" + strings.Repeat("00", 32), []string{"8480 ext-form"}},
	{"ext padding", "cut:2", "raw:01f0000000000070020000000000000000000000000000000000000000000001", []string{"8480 ext-form"}},
	{"ext string", "cut:2", "raw:0160000000000070ffff00000000000000000000000000000000000000000000", []string{"8480 ext-slots"}},
	{"bool", "bool:true", "bool:2", []string{"8288 ext-slots"}},
	{"string length", "cut:2", "raw:0160000000000070030000000200000061626300000000000000000000000000", []string{"8480 ext-form", "8480 ext-slots"}},
	{"lone key", "cut:2", "key:\"f1\"", []string{"8480 ext-slots"}},
	{"cut not last", "cut:2", "cut:2 int:5", []string{"8480 ext-slots"}},
	{"slot type", "cut:2", "slot14:2", []string{"8480 ext-slots"}},
	{"goid", "cut:2", "goid:0xffffffffffff", []string{"8480 ext-slots"}},
	{"link", "cut:2", "addr:0x10 addr:0 addr:1 addr:2 cut:2", nil},
	{"link of a process", "user:1 system:2", "user:1 system:2 addr:0 addr:1 addr:0 addr:0", nil},
	{"three of a link", "cut:2", "addr:0x10 addr:0 addr:1 cut:2", []string{"8480 ext-slots", "8480 ext-slots", "8480 ext-slots"}},
	{"five of a link", "cut:2", "addr:0x10 addr:0 addr:1 addr:2 addr:3", []string{"8480 ext-slots"}},
	{"fixed", "user:1 system:2", "user:1 int:2", []string{"8384 ext-fixed"}},
	{"fixed, none", " | addr:0x10\ntrack", "\ntrack", []string{"8640 ext-fixed"}},
	{"end flag", "flags=ends,final sealed\nanchor", "flags=none\nanchor", []string{"12384 end-flag", "12448 end-flag"}},
	{"end's start", "begin=2000", "begin=1999", []string{"12384 end-begin"}},
	{"end's goroutine", "loc:@a goid:7", "loc:@a goid:8", []string{"12384 end-begin"}},
	{"end's name", "end \"f1\" g=8", "end \"f2\" g=8", []string{"12384 end-begin"}},
	{"end's place", "loc:@a goid:7", "loc:8289 goid:7", []string{"12384 end-begin"}},
	{"end's place, no scope", "loc:@a goid:7", "loc:8256 goid:7", []string{"12384 end-begin"}},
	{"end before begin", "start=6001 begin=5000", "start=4999 begin=5000", []string{"16512 end-begin"}},
	{"in place and apart", "start=2000 open tid=12", "start=2000 stop=4000 cpu=0/unknown", nil},
	{"ended twice", "start=2000 open tid=12", "start=2000 stop=2005 cpu=0/unknown", []string{"12384 end-double"}},
	{"two ends", "loc:@p goid:7 user:5 system:6\n", "loc:@p goid:7 user:5 system:6\nend \"f1\" g=7 start=4001 begin=2001 cpu=0/unknown | loc:@p goid:7\n", []string{"12544 end-double"}},
	{"process in place", "start=2001 open tid=12", "start=2001 stop=3000 cpu=0/unknown", []string{"8384 end-process", "12448 end-double"}},
	{"checksum", "name 3 \"f2\"", "name 4 \"f3\" crc=bad\nname 3 \"f2\"", []string{"4192 block-whole"}},
	{"block too long", "chunk records owner=0 flags", "chunk blocks\nraw ffff0000010000000000000000000000\nchunk records owner=0 flags", []string{"8256 block-whole"}},
	{"block type", "info", "block 99 00\ninfo", []string{"4480 block-form"}},
	{"block payload", "break before=2700 after=2800", "block 8 00", []string{"4560 block-form"}},
	{"block padding", "name 3 \"f2\"", "name 3 \"f2\"\nat 95\nraw 01\nat 128", []string{"4160 block-form"}},
	{"block reserved", "name 3 \"f2\"", "name 3 \"f2\"\nat 79\nraw 01\nat 128", []string{"4160 block-form"}},
	{"gap reason", "gap from=2500 to=2600 count=3", "gap from=2500 to=2600 count=0", []string{"4512 block-form"}},
	{"gap order", "to=2600", "to=2400", []string{"4512 block-time"}},
	{"block time", "note ticks=3000", "note ticks=999", []string{"4592 block-time"}},
	{"beats", "beat ticks=3000", "beat ticks=2000", []string{"4424 block-time"}},
	{"name anew", "name 3 \"f2\"", "name 3 \"f2\"\nname 2 \"f1\"", []string{"4224 block-name"}},
	{"reserved name", "name 3 \"f2\"", "name 3 \"f2\"\nname 1 \"f1\"", []string{"4224 block-name"}},
	{"calibration", "calib ticks=2000 mono=1000", "calib ticks=2000 mono=0", []string{"4272 block-calib"}},
	{"bracket", "wall=5 bracket=9", "wall=5 bracket=-9", []string{"4224 block-calib"}},
	{"falling field", "user_ns=11", "user_ns=9", []string{"4424 block-beat"}},
	{"field twice", "user_ns=11", "user_ns=11 user_ns=12", []string{"4424 block-beat"}},
	{"frame twice", "frame 1 ", "frame 0 ", []string{"4680 block-stack", "4736 block-stack"}},
	{"frame unknown", "stack 1 0 1", "stack 1 0 7", []string{"4736 block-stack"}},
	{"stack twice", "stack 1 0 1", "stack 1 0 1\nstack 1 0", []string{"4768 block-stack"}},
	{"stack unknown", "2:1:5:50", "2:7:5:50", []string{"4768 block-stack"}},
	{"name of a count unknown", "2:1:5:50", "9:1:5:50", []string{"4768 block-stack"}},
	{"no calls", "2:1:5:50", "2:1:0:50", []string{"4768 block-stack"}},
	{"count before the start", "count ticks=3000", "count ticks=30", []string{"4768 block-time"}},
	{"stack of no size", "stack 1 0 1", "stack 1 0 1\nblock 11 020000000000", []string{"4768 block-form"}},
	{"frame's flags", "stack 1 0 1", "stack 1 0 1\nblock 10 0200000000000000000000000400000066", []string{"4768 block-form"}},
	{"part twice", "gotrace stream=1 part=0 676f20312e32", "gotrace part=0 67\ngotrace part=0 68", []string{"4872 block-gotrace"}},
	{"part of no stream", "gotrace stream=1 part=0 676f20312e32", "gotrace stream=0 67", []string{"4840 block-form"}},
	{"switches twice", "out:600 in:650", "out:600 in:650\nswitch thread=12 base=899 until=950", []string{"4920 block-switch"}},
	{"switches of two threads", "out:600 in:650", "out:600 in:650\nswitch thread=13 base=500 until=950", nil},
	{"switches' flags", "lock mutex", "block 15 0d000000080000000100000000000000020000000000000004\nlock mutex", []string{"4920 block-form"}},
	{"switch behind the end", "out:600 in:650", "out:600 in:901", []string{"4872 block-form"}},
	{"samples", "lock mutex", "stack 65536 0 1\ncode 65536 1 2\nsamples \"c\" \"count\" thread=1 base=5 until=9 lost=0 user:6:0:1:65536 kernel:6:0:1:0\nlock mutex", nil},
	{"samples twice", "lock mutex", "samples \"c\" \"\" base=5 until=9 lost=0\nsamples \"c\" \"\" base=8 until=9 lost=0\nlock mutex", []string{"4976 block-samples"}},
	{"file without a part", "lock mutex", "file source \"x.go\" size=9 offset=0 length=5 010500faff68656c6c6f\nlock mutex", []string{"4920 block-file"}},
	{"part of a file that is less", "lock mutex", "file source \"x.go\" size=6 offset=0 length=6 010500faff68656c6c6f\nlock mutex", []string{"4920 block-file"}},
	{"file of a later kind", "lock mutex", "block 19 090000000000000000000000000000000000000000000000090001007a010000ffff\nlock mutex", []string{"4920 block-form"}},
	{"sample of an unknown stack", "lock mutex", "samples \"c\" \"\" base=5 until=9 lost=0 user:6:0:1:1 user:6:0:1:2\nlock mutex", []string{"4920 block-samples"}},
	{"addresses twice", "lock mutex", "code 65536 1 2\ncode 65536 1 2\nlock mutex", []string{"4952 block-stack"}},
	{"process without its parent", "lock mutex", `member 2 "a" "" "" "" "" parent=1 shift=30 from=1000 to=2000` + "\nlock mutex", []string{"0 block-member"}},
	{"goroutine at an unknown stack", "lock mutex", "goroutine 7 waiting \"sleep\" since=5 stack=70000\nlock mutex", []string{"4920 block-goroutine"}},
	{"lock of no name", "mutex #3", "mutex #9", []string{"4920 block-lock"}},
	{"lock before the start", "lock mutex #3 ticks=3000", "lock mutex #3 ticks=30", []string{"4920 block-time"}},
	{"lock that is short", "lock mutex", "block 16 00\nlock mutex", []string{"4920 block-form"}},
	{"field unknown", "user_ns=11", "field-900=11", []string{"4424 block-beat"}},
	{"no stop", "stop ticks=9000\n", "", []string{"0 block-stop"}},
	{"two stops", "stop ticks=9000\n", "stop ticks=9000\nstop ticks=9000\n", []string{"5016 block-stop", "5016 block-stop"}},
	{"stop not last", "stop ticks=9000\n", "stop ticks=9000\nnote ticks=9000 \"x\"\n", []string{"4992 block-stop"}},
	{"stop in an open trace", "closed=1", "closed=0", []string{"4992 block-stop"}},
}

// TestVerify checks that Verify finds every defect of the corpus, and only that, and that the
// reader returns no error.
func TestVerify(t *testing.T) {
	covered := map[string]bool{}
	verify := func(sound string, tc verifyCase) {
		src := strings.Replace(sound, tc.old, tc.new, 1)
		if tc.old == "" {
			src = sound + tc.new
		} else if !strings.Contains(sound, tc.old) {
			t.Fatalf("%s: nothing to change", tc.name)
		}
		data, err := text.Assemble(strings.NewReader(src))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			return
		}
		fs, err := trace.Verify(bytes.NewReader(data), int64(len(data)))
		var got []string
		for _, f := range fs {
			got = append(got, fmt.Sprintf("%d %s", f.Offset, f.Rule))
			covered[f.Rule] = true
			if strings.Contains(f.Text, "%!") || f.Text == "" {
				t.Errorf("%s: text %q", tc.name, f.Text)
			}
		}
		if err != nil {
			got = []string{"0 FAILURE"}
		} else if _, err := read(data); err != nil {
			t.Errorf("%s: the reader does not tolerate it: %v", tc.name, err)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: found\n%v\nwant %v\n%v", tc.name, got, tc.want, fs)
		}
	}
	for _, tc := range verifyCases {
		verify(sound, tc)
	}
	for _, tc := range ringCases {
		verify(soundRing, tc)
	}
	// If the hot part is missing, it may have the name.
	const hot = "header backing=%s\nstate closed=0 tick=9000 end=8192\nchunk records owner=0 flags=final sealed\nanchor start=1500 thread=1 cpu=-1\ntask \"f\" g=1 start=2000 stop=3000 cpu=0/unknown\n"
	unnamed := strings.Replace(hot, `"f"`, "#7", 1)
	verify(fmt.Sprintf(unnamed, "shm"), verifyCase{"name in the hot part", "", "", nil})
	verify(fmt.Sprintf(unnamed, "disk"), verifyCase{"no hot part", "", "", []string{"4192 record-name"}})
	for _, r := range trace.Rules {
		if !covered[r.Name] {
			t.Errorf("no trace of the corpus breaks %s", r.Name)
		}
		delete(covered, r.Name)
	}
	for r := range covered {
		t.Errorf("%s is not in Rules", r)
	}
}

// TestVerifyProcessors checks that the findings and their order do not depend on how many chunks
// are checked at a time.
func TestVerifyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, shape := range []bulk.Shape{bulk.Regular, bulk.Args, bulk.Long, bulk.Ring} {
		sound, err := bulk.Trace{Shape: shape, Scopes: 60_000, Seed: 1}.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for _, broken := range []int{0, 50, 5000} { // the last has more than Verify reports
			data := slices.Clone(sound)
			noise := rand.New(rand.NewPCG(1, uint64(broken)))
			for range broken {
				chunk, at := 2+noise.IntN(len(data)/format.ChunkSize-2), noise.IntN(format.ChunkSize)
				if noise.IntN(500) == 0 {
					at %= format.ChunkHeaderSize
				}
				data[chunk*format.ChunkSize+at] ^= 1 << noise.IntN(8)
			}
			var found [2][]trace.Finding
			for i, processors := range []int{1, 4} {
				runtime.GOMAXPROCS(processors)
				if found[i], err = trace.Verify(bytes.NewReader(data), int64(len(data))); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(found[0], found[1]) || (broken == 0) != (len(found[0]) == 0) || broken == 5000 && len(found[0]) != 1000 {
				t.Errorf("%s with %d bits changed: %d findings, and %d on several processors", shape, broken, len(found[0]), len(found[1]))
			}
		}
	}
}

// TestGoldensBreakRules checks that every rule of the format has a golden that breaks it and no
// other, with the reader's output for that defect.
func TestGoldensBreakRules(t *testing.T) {
	broken := map[string][]string{} // by rule: the goldens that break it alone
	for _, g := range goldens(t) {
		data := g.bytes(t)
		findings, err := trace.Verify(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			continue // it does not open, as described
		}
		var rules []string
		for _, f := range findings {
			rules = append(rules, f.Rule)
		}
		slices.Sort(rules)
		if rules = slices.Compact(rules); len(rules) == 1 {
			broken[rules[0]] = append(broken[rules[0]], g.name)
		}
	}
	for _, r := range trace.Rules {
		if len(broken[r.Name]) == 0 {
			t.Errorf("no golden breaks %s and nothing else: %s", r.Name, r.Doc)
		}
	}
}

// TestEveryBlockIsTaken checks that the reader decodes every row of the table of block types.
func TestEveryBlockIsTaken(t *testing.T) {
	for _, s := range format.Blocks[1:] {
		if !trace.Decodes(s.Type) {
			t.Errorf("nothing takes in a %s block", s.Name)
		}
	}
}

// TestRulesDocumented checks that docs/format.md lists Verify's rules.
func TestRulesDocumented(t *testing.T) {
	b := filetest.Read(t, "../../docs/format.md")
	for _, r := range trace.Rules {
		if want := "\n| " + r.Name + " | " + r.Doc + " |\n"; !strings.Contains(string(b), want) {
			t.Errorf("docs/format.md does not have %q", want)
		}
	}
}
