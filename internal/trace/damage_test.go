package trace_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// TestDamage checks that the traces of a sound writer that was killed, and of a newer one, are not
// damaged; a cut or changed trace is.
func TestDamage(t *testing.T) {
	const head = "header clock=monotonic start=1000 mono=1000"
	for _, test := range []struct {
		about, text, problem string
		damage               bool
	}{
		{"a hole", "chunk records\nhole\ntask g=1 start=2000 stop=3000\n", "never begun", false},
		{"an extension without its record", "chunk records\next int:1\ntask g=1 start=2000 stop=3000\n", "extension has no record", false},
		{"an unborn chunk", "unborn\nchunk records\ntask g=1 start=2000 stop=3000\n", "a chunk that was handed out", false},
		{"an end without its begin", "chunk records flags=ends\nend g=1 start=3000 begin=2000 | loc:8256 goid:1\n", "no open begin", false},
		{"a later kind", "chunk records\nkind-99 g=1 start=2000\n", "unknown kind", false},
		{"a later block", "chunk blocks\nblock 77 0102\nchunk records\ntask g=1 start=2000 stop=3000\n", "unknown type", false},
		{"a later chunk", "chunk records\ntask g=1 start=2000 stop=3000\nchunk blocks\nat 4\nraw 09\n", "unknown kind", false},
		{"a step of the clock", "chunk blocks\nbreak before=2500 after=2600\nchunk records\ntask g=1 start=2000 stop=3000\n", "step of the clock", false},
		{"no hot file", " backing=shm\nstate end=40960\nunborn\nchunk records\ntask g=1 start=2000 stop=3000\n", "in memory", false},
		{"no hot file, and cut off", " backing=shm\nstate end=1000000000\nchunk records\n", "cut off", true},
		{"a hot file that was joined, and cut off", " backing=shm\nstate end=40960 joined=1\nchunk records\n", "cut off", true},
		{"stopped, and cut off", " backing=shm\nstate end=40960 closed=1\nchunk records\n", "cut off", true},
		{"a changed block", "chunk blocks\nname 2 \"f\" crc=bad\n", "torn", true},
		{"an end before its begin", "chunk records\ntask g=1 start=3000 stop=2000\n", "before its begin", true},
		{"cut off", "chunk records\ntask g=1 start=2000 stop=3000\ntruncate 4200\n", "cut off", true},
		{"a changed chunk header", "bytes\nraw 01\nchunk records\n", "invalid header", true},
	} {
		if test.text[0] != ' ' {
			test.text = "\n" + test.text
		}
		b, err := text.Assemble(strings.NewReader(head + test.text))
		if err != nil {
			t.Errorf("%s: %v", test.about, err)
			continue
		}
		tr, err := trace.Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Errorf("%s: %v", test.about, err)
			continue
		}
		if err := tr.Events(trace.Options{}, func(*trace.Event) bool { return true }); err != nil {
			t.Errorf("%s: %v", test.about, err)
		}
		found := false
		for _, p := range tr.Problems() {
			if strings.Contains(p.Text, test.problem) {
				found = true
				if p.Damage() != test.damage {
					t.Errorf("%s: %q is damage: %v", test.about, p.Text, p.Damage())
				}
			} else if p.Damage() && !test.damage {
				t.Errorf("%s: %q is damage too", test.about, p.Text)
			}
		}
		if !found {
			t.Errorf("%s: not among %+v", test.about, tr.Problems())
		}
	}
}
