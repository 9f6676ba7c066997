package outside

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestUnaliased: of several names of one address the last in alphabetical order counts, and the
// others are kept.
func TestUnaliased(t *testing.T) {
	got := unaliased([]function{
		{addr: 30, size: 8, name: "read"}, {addr: 10, name: "b"}, {addr: 30, name: "_read"}, {addr: 20, name: "alone"},
		{addr: 30, name: "__read"}, {addr: 30, size: 8, name: "read"}, {addr: 10, size: 4, name: "B"},
	})
	want := []function{{addr: 10, size: 4, name: "b", aliases: []string{"B"}}, {addr: 20, name: "alone"}, {addr: 30, size: 8, name: "read", aliases: []string{"__read", "_read"}}}
	if !slices.EqualFunc(got, want, func(a, b function) bool {
		return a.addr == b.addr && a.size == b.size && a.name == b.name && slices.Equal(a.aliases, b.aliases)
	}) {
		t.Errorf("%+v", got)
	}
}

// TestLocalFunctions: a name of functions in several sources gets the source's name; a name that
// occurs twice in one source, or only once, or is global, is unchanged.
func TestLocalFunctions(t *testing.T) {
	file := func(name string) elf.Symbol {
		return elf.Symbol{Name: name, Info: elf.ST_INFO(elf.STB_LOCAL, elf.STT_FILE)}
	}
	local := func(name string, at uint64) elf.Symbol {
		return elf.Symbol{Name: name, Value: at, Info: elf.ST_INFO(elf.STB_LOCAL, elf.STT_FUNC)}
	}
	syms := []elf.Symbol{
		file("h1.c"), local("hash", 1), local("alone", 2), {Name: "hash", Info: elf.ST_INFO(elf.STB_LOCAL, elf.STT_OBJECT), Value: 3},
		file("h2.c"), local("hash", 4), local("same", 5), local("same", 5),
		file(""), {Name: "hash", Value: 6, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC)},
	}
	addSourceNames(syms)
	var got []string
	for _, s := range syms {
		got = append(got, s.Name)
	}
	if want := []string{"h1.c", "hash (h1.c)", "alone", "hash", "h2.c", "hash (h2.c)", "same", "same", "", "hash"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

const aliased = `
__attribute__((noinline)) void _spin(void) { for (volatile long i = 0; i < 300000000; i++) ; }
void spin(void) __attribute__((alias("_spin")));
void __spin(void) __attribute__((alias("_spin")));
int main(void) { _spin(); return 0; }
`

// TestAliases: a function of C with several names is shown under one of them, whichever it was
// called by, and the trace has the others, once.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "x.c"), filepath.Join(dir, "x")
	filetest.Write(t, source, []byte(aliased))
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler: ", err)
	}
	if out, err := exec.Command("cc", "-O1", "-fno-omit-frame-pointer", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out bytes.Buffer
	clock, err := perf.ParseCounter("task-clock:1ms")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.scope")
	if _, err := Record(context.Background(), Options{Command: []string{program}, Path: path, Counters: []perf.Counter{clock}, Out: &out, Err: &out, Full: func(err error) { t.Error(err) }}); err != nil {
		t.Skip(err)
	}
	tr := sound(t, path)
	leaves := map[string]int{}
	if err := tr.EachSample(func(s *trace.Sample) bool {
		if frames := tr.AppendFrames(nil, s.Stack); len(frames) > 0 && !s.Kernel {
			leaves[frames[0].Function]++
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if leaves["spin"] < 20 || leaves["_spin"]+leaves["__spin"] > 0 {
		t.Errorf("samples by function: %v", leaves)
	}
	var facts []string
	for _, i := range tr.Info {
		if i.Key == "aliases_spin" {
			facts = append(facts, i.Value)
		}
	}
	if fmt.Sprint(facts) != "[__spin _spin]" {
		t.Errorf("other names: %q", facts)
	}
}
