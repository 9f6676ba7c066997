package perfdata

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// run runs a command, and returns its output.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
	}
	return string(out)
}

// tool skips the test if a tool is missing.
func tool(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("needs %s: make deps installs it", names[0])
	return ""
}

// perfRecord samples a program with perf every 250 microseconds of its CPU time.
func perfRecord(t *testing.T, program string, args ...string) string {
	t.Helper()
	tool(t, "perf")
	data := filepath.Join(t.TempDir(), "perf.data")
	cmd := exec.Command("perf", append([]string{"record", "-q", "-e", "task-clock", "-c", "250000", "--call-graph", "fp", "-o", data, program}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("needs a machine on which perf may sample (kernel.perf_event_paranoid): %v\n%s", err, out)
	}
	return data
}

// sampled is a sample as perf script prints it.
type sampled struct {
	symbol string
	addr   uint64 // in the file, for samples of the program
	user   bool
}

// script returns a file's samples as perf reads them.
func script(t *testing.T, data, program string) (list []sampled) {
	t.Helper()
	im, err := symbols.OpenImage(program)
	if err != nil {
		t.Fatal(err)
	}
	starts := map[uint64]uint64{} // offsets of mappings, by address
	for line := range strings.Lines(run(t, "", "perf", "script", "-i", data, "--show-mmap-events", "-G", "-F", "ip,sym,symoff,dso")) {
		if _, m, ok := strings.Cut(line, "PERF_RECORD_MMAP"); ok {
			var start, size, offset uint64
			_, at, _ := strings.Cut(m, ": [")
			if _, err := fmt.Sscanf(at, "0x%x(0x%x) @ 0x%x", &start, &size, &offset); err == nil && strings.Contains(m, program) {
				starts[start] = offset
			} else if _, err := fmt.Sscanf(at, "0x%x(0x%x) @ %d", &start, &size, &offset); err == nil && strings.Contains(m, program) {
				starts[start] = offset
			}
			continue
		}
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		ip, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			t.Fatalf("perf script printed %q", line)
		}
		s := sampled{user: ip < 1<<63}
		s.symbol, _, _ = strings.Cut(f[1], "+0x")
		if strings.Contains(line, "("+program+")") {
			for start, offset := range starts {
				if addr, ok := im.Address(ip - start + offset); ok && ip >= start {
					s.addr = addr
				}
			}
		}
		list = append(list, s)
	}
	return list
}

// leaves returns the samples by the function whose code it is, without inlined functions.
func leaves(p *pgo.Profile) map[string]int64 {
	all := map[string]int64{}
	for pair, n := range p.Weight {
		location := p.Locations[pair.Leaf]
		all[location[len(location)-1].Func] += n
	}
	return all
}

// agree compares the functions' samples with perf's.
func agree(t *testing.T, p *pgo.Profile, list []sampled, functions ...string) {
	t.Helper()
	want := map[string]int64{}
	for _, s := range list {
		if s.user {
			want[s.symbol]++
		}
	}
	got := leaves(p)
	for _, f := range functions {
		if want[f] == 0 || got[f] != want[f] {
			t.Errorf("%s has %d samples, by perf %d; %v and %v", f, got[f], want[f], got, want)
		}
	}
}

const cSource = `#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sink;

static inline __attribute__((always_inline)) unsigned long mix(unsigned long x) {
	x ^= x >> 13;
	x *= 0x9E3779B97F4A7C15ul;
	x ^= x >> 7;
	return x;
}

__attribute__((noinline)) static unsigned long fib(unsigned n) {
	if (n < 2) return n;
	return fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) unsigned long work(unsigned long n) {
	unsigned long s = 1;
	for (unsigned long i = 0; i < n; i++) {
		s = mix(s + i);
		if (s & 4) sink += mix(s) & i; else sink ^= mix(s + 7) | i;
	}
	return s;
}

int main(int argc, char **argv) {
	unsigned long n = strtoul(argv[1], 0, 10), s = 0;
	for (int i = 0; i < 3; i++) {
		s += work(n);
		s += fib(28 + argc);
	}
	printf("%lu\n", s);
	return 0;
}
`

// TestC: the profile of a program in C has perf's samples, at llvm-symbolizer's lines.
func TestC(t *testing.T) {
	clang, symbolizer := tool(t, "clang-14", "clang"), tool(t, "llvm-symbolizer-14", "llvm-symbolizer")
	for _, flags := range []string{"-g -gdwarf-5", "-g -gdwarf-4 -no-pie", "-gline-tables-only -gdwarf-5", "-gline-tables-only -gdwarf-4", "-gline-tables-only -fdebug-info-for-profiling"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			program := filepath.Join(dir, "program")
			filetest.Write(t, filepath.Join(dir, "p.c"), []byte(cSource))
			run(t, dir, clang, append(strings.Fields(flags), "-O2", "-fno-omit-frame-pointer", "-o", program, "p.c")...)
			data := perfRecord(t, program, "4000000")
			p, b, notes, err := Profile(context.Background(), data, Options{})
			if err != nil || b != nil {
				t.Fatalf("%v, branches %v", err, b)
			}
			list := script(t, data, program)
			agree(t, p, list, "work", "fib")
			symbolized(t, p, program, symbolizer, list)
			whole := false
			for pair := range p.Weight {
				if pair.Caller != pgo.None {
					leaf, by := p.Locations[pair.Leaf], p.Locations[pair.Caller]
					whole = whole || leaf[0].Func == "mix" && leaf[1].Func == "work" && by[0].Func == "main" && by[0].Line == 30
				}
			}
			if !whole {
				t.Error("no sample of mix that is inlined into work, which main calls in line 30")
			}
			t.Log(strings.Join(notes, "\n"))
		})
	}
}

// TestNoFrame: if the sampled function has no frame, the caller in perf's chain is its
// caller's caller. No such call is in the profile.
func TestNoFrame(t *testing.T) {
	clang := tool(t, "clang-14", "clang")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"with.c": "unsigned long work(unsigned long);\n__attribute__((noinline)) unsigned long mid(unsigned long n) { return work(n) + 1; }\nint main() { unsigned long s = 0; for (int i = 0; i < 8; i++) s += mid(20000000 + i); return s & 1; }\n",
		"less.c": "unsigned long work(unsigned long n) { unsigned long s = n; for (unsigned long i = 0; i < n; i++) s = s * 31 + (s >> 7); return s; }\n",
	} {
		filetest.Write(t, filepath.Join(dir, name), []byte(text))
	}
	program := filepath.Join(dir, "program")
	run(t, dir, clang, "-O2", "-g", "-fno-omit-frame-pointer", "-c", "with.c")
	run(t, dir, clang, "-O2", "-g", "-fomit-frame-pointer", "-c", "less.c")
	run(t, dir, clang, "with.o", "less.o", "-o", program)
	p, _, notes, err := Profile(context.Background(), perfRecord(t, program), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for pair, w := range p.Weight {
		if leaf := p.Locations[pair.Leaf]; leaf[0].Func == "work" {
			n += w
			if pair.Caller != pgo.None {
				t.Errorf("%d samples say that %+v calls work", w, p.Locations[pair.Caller])
			}
		}
	}
	if n < 100 || !strings.Contains(strings.Join(notes, "\n"), "-fno-omit-frame-pointer") {
		t.Errorf("%d samples of work; %q", n, notes)
	}
	if !p.Prologues {
		t.Error("where prologues end is not known")
	}
}

// symbolized compares the lines of the program's samples with those of llvm-symbolizer for
// their addresses.
func symbolized(t *testing.T, p *pgo.Profile, program, symbolizer string, list []sampled) {
	t.Helper()
	want := map[string]int64{}
	args := []string{"--obj=" + program, "--no-demangle", "--functions=linkage"}
	for _, s := range list {
		if s.addr != 0 {
			args = append(args, fmt.Sprintf("%#x", s.addr))
		}
	}
	for location := range strings.SplitSeq(strings.TrimSpace(run(t, "", symbolizer, args...)), "\n\n") {
		key, lines := "", strings.Split(location, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			at := strings.Split(lines[i+1], ":")
			key += lines[i] + ":" + at[len(at)-2] + " "
		}
		want[key]++
	}
	got := map[string]int64{}
	for pair, n := range p.Weight {
		key := ""
		for _, f := range p.Locations[pair.Leaf] {
			key += f.Func + ":" + strconv.Itoa(f.Line) + " "
		}
		got[key] += n
	}
	// The start files' _init has no size: llvm-symbolizer extends it to the following code,
	// such as the procedure linkage table, for which the profile has no function.
	delete(want, "_init:0 ")
	for key, n := range want {
		if got[key] != n {
			t.Errorf("%s has %d samples, by llvm-symbolizer %d", key, got[key], n)
		}
	}
	if len(want) < 5 {
		t.Errorf("llvm-symbolizer knows only of %v", want)
	}
}

const goSource = `package main

import (
	"fmt"
	"os"
	"strconv"
)

func mix(x uint64) uint64 {
	x ^= x >> 13
	x *= 0x9E3779B97F4A7C15
	return x ^ x>>7
}

//go:noinline
func fold[T ~int | ~uint64](list []T) (s T) {
	for _, v := range list {
		s += T(mix(uint64(v)))
	}
	return s
}

//go:noinline
func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

type odd uint64

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	list := make([]odd, 100000)
	s := uint64(0)
	for range 10 {
		for range n {
			s += uint64(fold(list))
		}
		s += uint64(fib(25))
	}
	fmt.Println(s)
}
`

// TestGo: likewise for a program in Go, with DWARF and without.
func TestGo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: perf is its own")
	}
	for name, flags := range map[string][]string{"dwarf": nil, "stripped": {"-ldflags=-s -w"}, "pie": {"-buildmode=pie"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"main.go": goSource, "go.mod": "module example.org/p\n\ngo 1.26\n"} {
				filetest.Write(t, filepath.Join(dir, file), []byte(text))
			}
			program := filepath.Join(dir, "program")
			run(t, dir, "go", append(append([]string{"build"}, flags...), "-o", program, ".")...)
			data := perfRecord(t, program, "40")
			p, _, notes, err := Profile(context.Background(), data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(strings.Join(notes, "\n"))
			const fold = "main.fold[go.shape.uint64]"
			if name != "stripped" { // perf has no names then
				agree(t, p, script(t, data, program), fold, "main.fib")
			}
			got := map[string]bool{}
			for pair := range p.Weight {
				leaf := p.Locations[pair.Leaf]
				key := leaf[0].Func
				for _, f := range leaf[1:] {
					key += " in " + f.Func
				}
				if pair.Caller != pgo.None {
					key += " from " + p.Locations[pair.Caller][0].Func
				}
				got[key] = true
			}
			for _, want := range []string{"main.mix in " + fold, "main.fib from main.fib"} {
				if !got[want] {
					t.Errorf("no sample of %s: %v", want, got)
				}
			}
			edges, err := p.Edges()
			if err != nil || !edges.Lines || edges.Weight[pgo.Edge{Caller: fold, Callee: "main.mix", Offset: 2}] == 0 {
				t.Errorf("edges %v, %v", edges, err)
			}
		})
	}
}
