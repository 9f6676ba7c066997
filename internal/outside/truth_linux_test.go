package outside

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/trace"
)

// goSpin is a program that takes 300 ms of CPU time in a function, then becomes the program that it is
// given, if it is.
const goSpin = `package main

import (
	"os"
	"runtime"
	"syscall"
)

func cpu() int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(1, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

//go:noinline
func NAME() (s int) {
	for until := cpu() + 3e8; cpu() < until; {
		for i := range 100_000 {
			s += i * i % 7
		}
	}
	return s
}

func main() {
	runtime.LockOSThread()
	os.Args[0] = string(rune(NAME()&1 + 'a'))
	if len(os.Args) > 1 {
		panic(syscall.Exec(os.Args[1], os.Args[1:], os.Environ()))
	}
}
`

// jit has code in anonymous memory where a library was, and a child with a library that its parent
// has not.
const jit = spinning + `
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <stdint.h>
SPIN(in_jit)
static void *load(char *lib) {
	void *l = dlopen(lib, RTLD_NOW);
	if (!l) { puts(dlerror()); exit(1); }
	((void (*)(void))dlsym(l, "run_it"))();
	return l;
}
int main(int n, char **args) {
	in_jit();
	void *l = load(args[1]), *at = dlsym(l, "run_it");
	dlclose(l);
	at = (void *)((uintptr_t)at & ~0xfffUL);
	/* mov $400000000,%eax; 1: dec %eax; jnz 1b; ret */
	const unsigned char loop[] = {0xb8, 0x00, 0x84, 0xd7, 0x17, 0xff, 0xc8, 0x75, 0xfc, 0xc3};
	void *p = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (p != at) return 1;
	memcpy(p, loop, sizeof loop);
	((void (*)(void))p)();
	if (fork() == 0) { load(args[2]); _exit(0); }
	wait(NULL);
	return 0;
}`

// TestTruth: what each file had of the CPU time of some programs that change what they run is the
// same as perf script tells.
func TestTruth(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") != "1" {
		t.Skip("it takes long: SCOPEVIEW_TRUTH=1 runs it")
	}
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is what it is compared with: ", err)
	}
	const program = "#define IN in_this\n" + spinning + "SPIN(in_this) void run_it(void) { in_this(); }"
	dir := compiled(t, map[string]string{"one.so": program, "two.so": program, "jit": jit})
	for _, name := range []string{"first", "second"} {
		source := filepath.Join(dir, name+".go")
		if err := os.WriteFile(source, []byte(strings.ReplaceAll(goSpin, "NAME", name)), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), source)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0", "GO111MODULE=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for name, command := range map[string][]string{
		"a Go program becomes another":         {first, second},
		"two at once":                          {"sh", "-c", first + " & " + second + "; wait"},
		"itself, made anew":                    {"sh", "-c", "cp " + first + " x; ./x; cp " + second + " y; mv y x; ./x"},
		"code without a file, a child's own":   {filepath.Join(dir, "jit"), filepath.Join(dir, "one.so"), filepath.Join(dir, "two.so")},
		"one after another, forked from shell": {"sh", "-c", first + "; " + second + " " + first},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(dir)
			got, want := objectShares(t, command), perfShares(t, command)
			for _, object := range slices.Sorted(keysOf(got, want)) {
				t.Logf("%-12s %5.1f %%, by perf %5.1f %%", object, 100*got[object], 100*want[object])
				if math.Abs(got[object]-want[object]) > 0.05 {
					t.Errorf("%s has %.1f %% of the CPU time, by perf %.1f %%", object, 100*got[object], 100*want[object])
				}
			}
		})
	}
}

func keysOf(all ...map[string]float64) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		seen := map[string]bool{}
		for _, m := range all {
			for k := range m {
				if !seen[k] && !yield(k) {
					return
				}
				seen[k] = true
			}
		}
	}
}

// objectShares returns the share of user time that each file has, by a recording of a command.
func objectShares(t *testing.T, command []string) map[string]float64 {
	t.Helper()
	clock, err := perf.ParseCounter("task-clock:1ms")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	path := filepath.Join(t.TempDir(), "x.scope")
	o := Options{Command: command, Path: path, Counters: []perf.Counter{clock}, Out: &out, Err: &out, Full: func(err error) { t.Error(err) }}
	res, err := Record(context.Background(), o)
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%v of CPU time, %d samples, %d lost", res.CPU, res.Samples, res.Lost)
	tr := sound(t, path)
	of, all := map[string]float64{}, 0.0
	if err := tr.EachSample(func(s *trace.Sample) bool {
		if s.Kernel {
			return true
		}
		object := "[unknown]"
		if pcs := tr.PCs(s.Stack); len(pcs) > 0 {
			if x := tr.CodeAt(pcs[0]); x != nil {
				object = filepath.Base(x.Path)
			}
		}
		of[object] += float64(s.Weight)
		all += float64(s.Weight)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	for k := range of {
		of[k] /= all
	}
	return of
}

// perfShares is objectShares by perf.
func perfShares(t *testing.T, command []string) map[string]float64 {
	t.Helper()
	data := filepath.Join(t.TempDir(), "perf.data")
	if out, err := exec.Command("perf", append([]string{"record", "-q", "-e", "task-clock:u", "-c", "1000000", "-o", data, "--"}, command...)...).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	text, err := exec.Command("perf", "script", "-i", data, "-F", "period,ip,dso").Output()
	if err != nil {
		t.Fatal(err)
	}
	of, all := map[string]float64{}, 0.0
	for line := range strings.Lines(string(text)) {
		w := strings.Fields(line) // 1000000 401020 (/x/first)
		if len(w) < 3 {
			continue
		}
		n, err := strconv.ParseFloat(w[0], 64)
		if err != nil {
			t.Fatal(fmt.Errorf("%q: %w", line, err))
		}
		object := filepath.Base(strings.Trim(strings.Join(w[2:], " "), "()"))
		if strings.HasPrefix(object, "perf-") { // where a compiler at run time could tell names
			object = "anon"
		}
		of[object] += n
		all += n
	}
	for k := range of {
		of[k] /= all
	}
	return of
}
