package outside

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/perf"
)

// compiled compiles C sources, by the names of the results, and returns their directory. Names
// that end in .so become libraries; all programs are at one address.
func compiled(t *testing.T, sources map[string]string) (dir string) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler: ", err)
	}
	dir = t.TempDir()
	for name, text := range sources {
		args := []string{"-O1", "-fno-omit-frame-pointer", "-no-pie", "-x", "c", "-", "-o", filepath.Join(dir, name), "-ldl"}
		if strings.HasSuffix(name, ".so") {
			args = append(args, "-shared", "-fPIC")
		}
		cmd := exec.Command("cc", args...)
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	return dir
}

// spinning is a function that takes 100 ms of CPU time.
const spinning = `
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define SPIN(name) __attribute__((noinline)) void name(void) { struct timespec b, n; \
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b); \
	do { for (volatile int i = 0; i < 100000; i++); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &n); } \
	while ((n.tv_sec - b.tv_sec) * 1000000000L + n.tv_nsec - b.tv_nsec < 100000000); }
`

// TestChangingProgram: a program that runs one library after another at the same address, then
// another program at its own, has the right CPU time in each.
func TestChangingProgram(t *testing.T) {
	const program = spinning + `SPIN(IN)
		void run(char *lib) {
			void *l = dlopen(lib, RTLD_NOW);
			if (!l) { puts(dlerror()); exit(1); }
			void (*f)(void) = dlsym(l, "run_it");
			printf("%p\n", (void *)f);
			fflush(stdout);
			f();
			dlclose(l);
		}
		int main(int n, char **args) {
			IN();
			for (int i = 1; i < n - 1; i++) run(args[i]);
			if (n > 1) execv(args[n-1], args + n - 1);
			return n > 1;
		}`
	dir := compiled(t, map[string]string{
		"one.so": spinning + "SPIN(in_one) void run_it(void) { in_one(); }",
		"two.so": spinning + "SPIN(in_two) void run_it(void) { in_two(); }",
		"first":  "#define IN in_first\n" + program,
		"second": "#define IN in_second\n" + program,
	})
	clock, err := perf.ParseCounter("task-clock:1ms")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o := Options{Path: filepath.Join(dir, "x.scope"), Counters: []perf.Counter{clock}, Out: &out, Err: &out, Full: func(err error) { t.Error(err) }}
	for _, name := range []string{"first", "one.so", "two.so", "second"} {
		o.Command = append(o.Command, filepath.Join(dir, name))
	}
	res, err := Record(context.Background(), o)
	if err != nil && strings.Contains(err.Error(), "recording from outside") {
		t.Skip(err)
	}
	if at := strings.Fields(out.String()); err != nil || res.Exit != 0 || len(at) != 2 || at[0] != at[1] {
		t.Fatalf("%v, %+v, printed %q", err, res, at)
	}
	tr := sound(t, o.Path)
	for _, name := range []string{"in_first", "in_one", "in_two", "in_second"} {
		if _, on, _ := sums(t, tr, "task-clock", name); on < 85e6 || on > 115e6 {
			t.Errorf("%d ns in %s, which takes 100 ms", on, name)
		}
	}
}
