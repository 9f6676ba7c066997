package outside

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestUnaliased: of several names of one place the last by the alphabet counts, and the others
// are kept.
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

const aliased = `
__attribute__((noinline)) void _spin(void) { for (volatile long i = 0; i < 300000000; i++) ; }
void spin(void) __attribute__((alias("_spin")));
void __spin(void) __attribute__((alias("_spin")));
int main(void) { _spin(); return 0; }
`

// TestAliases: a function of C that has several names is shown by one of them, whatever it was
// called by, and the trace tells the others, once.
func TestAliases(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "x.c"), filepath.Join(dir, "x")
	if err := os.WriteFile(source, []byte(aliased), 0o600); err != nil {
		t.Fatal(err)
	}
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
