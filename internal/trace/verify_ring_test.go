package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// soundRing is a ring without defects: the chunks with the numbers 1 to 3 are overwritten; the
// second of them was at 8192 to 12288.
const soundRing = `header path=assembly witness=7 ring=4
state closed=1 tick=9000 overwritten=90 until=2900
chunk blocks flags=kept sealed
name 2 "f1"
name 3 "f2"
break before=2700 after=2800
stop ticks=9000
chunk records number=6 owner=0 since=6000 flags=ends,final sealed
anchor start=6000 thread=12 cpu=5
end "f1" g=8 start=7000 begin=2000 cpu=100/likely | loc:8288 goid:7 begin:task/"f1"/7/ext int:9
end g=7 start=7001 begin=2100 cpu=0/unknown | loc:8352 goid:7 begin:process/"f2"/7/ext user:5 system:6
chunk blocks number=4 since=3000 sealed
carry ticks=5000 loc=8352 thread=12 owner=1 process "f2" g=7 start=2100 open tid=12 | user:1 system:2
carry ticks=5000 loc=8416 thread=12 owner=1 track "f2" g=7 start=2150
carry ticks=5001 loc=8448 thread=12 owner=1 task "f2" g=7 start=2200 stop=4000 cpu=5/likely
carry ticks=5002 loc=20576 thread=13 owner=2 task "f1" g=9 start=4001 open tid=13
beat ticks=6000 overwritten=90
calib ticks=6000 mono=5000 wall=5 bracket=9
unborn
chunk records number=5 owner=2 since=4000 flags=final sealed
anchor start=4000 thread=13 cpu=5
task "f1" g=9 start=4001 open tid=13
chunk blocks flags=kept sealed=64
unborn
`

// ringCases change soundRing.
var ringCases = []verifyCase{
	{"sound", "", "", nil},
	{"ring size", "ring=4", "ring=9000000", []string{"92 header-values"}},
	{"overwritten", "overwritten=90 until", "overwritten=-9 until", []string{"160 state"}},
	{"until", "until=2900", "until=5", []string{"168 state"}},
	{"not a ring", "witness=7 ring=4", "witness=7", []string{"144 state-end", "160 state", "4124 chunk-kept", "4256 block-stop", "8232 chunk-number", "8288 end-begin", "8384 end-begin",
		"12328 chunk-number", "12352 block-carry", "12456 block-carry", "12528 block-carry", "12600 block-carry",
		"20520 chunk-number", "24604 chunk-kept"}},
	{"number twice", "chunk records number=5", "chunk records number=6", []string{"8232 chunk-number"}},
	{"number too large", "chunk records number=5", "chunk records number=16773120", []string{"20520 chunk-number"}},
	{"number of a kept chunk", "chunk blocks flags=kept sealed=64", "chunk blocks flags=kept sealed=64 number=9", []string{"24616 chunk-number"}},
	{"generation", "chunk records number=6", "chunk records number=6 gen=0", []string{"8216 chunk-values"}},
	{"generations", "chunk records number=6", "chunk records number=6 gen=9", nil},
	{"kept records", "owner=2 since=4000 flags=final", "owner=2 since=4000 flags=final,kept", []string{"20508 chunk-kept", "20520 chunk-number"}},
	{"more chunks than the ring has", "ring=4", "ring=2", []string{"8192 ring-size"}},
	{"name where it is overwritten", "beat ticks=6000", "name 4 \"f4\"\nbeat ticks=6000", []string{"12672 block-kept"}},
	{"gotrace, recorded and joined", "break before", "gotrace part=1 00\nbreak before", nil},
	{"gotrace in the ring", "beat ticks=6000", "gotrace 00\nbeat ticks=6000", nil},
	{"switches that are kept", "break before", "switch thread=1 base=5 until=6\nbreak before", []string{"4224 block-kept"}},
	{"lock that is kept", "break before", "lock mutex #2 ticks=2000\nbreak before", []string{"4224 block-kept"}},
	{"beat that is kept", "break before", "beat ticks=2000\nbreak before", []string{"4224 block-kept"}},
	{"carry of nowhere", "loc=8448", "loc=32", []string{"12528 block-carry"}},
	{"carry from a chunk's header", "loc=8448", "loc=8224", []string{"12528 block-carry"}},
	{"carry from before its record", "ticks=5000 loc=8416", "ticks=2149 loc=8416", []string{"12456 block-carry"}},
	{"carry from before the end", "ticks=5001", "ticks=3999", []string{"12528 block-carry"}},
	{"carry from before the start", "ticks=5000 loc=8416", "ticks=999 loc=8416", []string{"12456 block-carry", "12456 block-time"}},
	{"carry of an event", "track \"f2\" g=7 start=2150", "event \"f2\" g=7 start=2150", []string{"12456 block-form"}},
	{"carry of no name", "track \"f2\"", "track #9", []string{"12456 record-name"}},
	{"carry of a slot that is none", "user:1 system:2", "user:1", []string{"12352 ext-fixed"}},
	{"carry of something else", "task \"f1\" g=9 start=4001 open tid=13\nbeat", "task \"f1\" g=8 start=4001 open tid=13\nbeat", []string{"12600 block-carry"}},
	{"begin of another goroutine", "begin:task/\"f1\"/7", "begin:task/\"f1\"/8", []string{"8288 end-begin"}},
	{"begin of an event", "begin:task/\"f1\"/7", "begin:event/\"f1\"/7", []string{"8288 end-begin", "8288 ext-slots"}},
	{"begin of another kind than the carry's", "begin:process/\"f2\"/7", "begin:task/\"f2\"/7", []string{"8384 end-begin"}},
	{"begin that only the carry has", "begin:process/\"f2\"/7/ext", "begin:0", nil},
	{"begin that nobody has", "begin:task/\"f1\"/7/ext", "begin:0", []string{"8288 end-begin"}},
	{"begin of another name", "end \"f1\" g=8", "end \"f2\" g=8", []string{"8288 end-begin"}},
	{"begin at no place", "loc:8288", "loc:8289", []string{"8288 end-begin"}},
	{"begin in a kept chunk", "loc:8288", "loc:68719480896", []string{"8288 end-begin"}},
	{"begin after its end", "start=7001 begin=2100", "start=2099 begin=2100", []string{"8384 end-begin"}},
	{"begin that ends twice", "chunk blocks number=4", "end g=7 start=7002 begin=2000 cpu=0/unknown | loc:8288 goid:7 begin:task/\"f1\"/7/ext\nchunk blocks number=4", []string{"8480 end-double"}},
	{"not zero where nothing was handed out", "unborn\nchunk records number=5", "bytes\nat 4000\nraw 01\nchunk records number=5", []string{"20384 chunk-unborn"}},
	{"not zeroed yet", "closed=1", "closed=0", []string{"4256 block-stop"}},
	{"end of the file", "tick=9000", "tick=9000 end=24576", []string{"144 state-end"}},
	{"end of the last chunk", "tick=9000", "tick=9000 end=28672", nil},
}

// TestOverwrittenUntil checks that a scope whose begin was overwritten began before Overwritten says
// that all records are there, also if a nanosecond has several ticks.
func TestOverwrittenUntil(t *testing.T) {
	for begin := 2890; begin < 2903; begin++ {
		text := strings.Replace(soundRing, "header ", "header rate=4000000000 ", 1)
		text = strings.Replace(text, "begin=2000 ", fmt.Sprintf("begin=%d ", begin), 1)
		text = strings.Replace(text, "until=2900", "until=2903", 1)
		tr := tracetest.OpenText(t, text)
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			if tr.Name(e.Name) == "f1" && !e.Open && e.Start >= tr.Overwritten().Until {
				t.Errorf("a scope began at tick %d, %d ns, and all from %d ns on is there", begin, e.Start, tr.Overwritten().Until)
			}
		}
	}
}
