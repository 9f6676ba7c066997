package perf

import (
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/unwind"
)

// TestOwnRules: the rules found from prologues agree with Go's table of stack depths, at each
// instruction of this program. For assembly fewer rules are known.
func TestOwnRules(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := symbols.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	table, err := symbols.OpenCode(path, b)
	if err != nil {
		t.Fatal(err)
	}
	if (ownText{}).Arch() != table.Arch() {
		t.Skip("walks are not possible on this processor")
	}
	found := map[unwind.Rule]int{}
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if i%7 != 0 && f.Name != "runtime.goexit" || strings.HasPrefix(f.Name, "_cgo") || f.End == f.Entry { // another name of what follows
			continue
		}
		from, to, ok := ownText{}.Function(f.Entry)
		if !ok || from != f.Entry || to < f.End || to > f.End+64 { // the gap between functions belongs to one
			t.Errorf("%s from %#x to %#x, which is from %#x to %#x", f.Name, from, to, f.Entry, f.End)
		}
		list, err := b.Disasm(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range list {
			got, want := ownText{}.Rule(in.PC), table.Rule(in.PC)
			if found[got]++; got != want && !strings.HasSuffix(f.File, ".s") {
				t.Errorf("%s+%#x: %+v, want %+v: %s", f.Name, in.PC-f.Entry, got, want, in.Text)
			}
		}
	}
	t.Log(found)
	for _, r := range []unwind.Rule{{How: unwind.ByPointer}, {How: unwind.Outermost}} {
		if found[r] == 0 {
			t.Errorf("nothing is found by %+v: %v", r, found)
		}
	}
}
