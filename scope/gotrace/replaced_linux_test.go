//go:build !scope_off && !scope_pure && !race

package gotrace_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/testing/procstate"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// replaces in the environment makes the test binary a program that replaces itself by another one;
// its value has the way of recording and the trace's path. replaced makes it that other program.
const replaces, replaced = "GOTRACE_REPLACES", "GOTRACE_REPLACED"

// recordings are the ways in which a program that replaces itself records; nil: it does not
// record.
var recordings = map[string][]scope.Option{
	"alone": nil,
	"shm":   {gotrace.With(), scope.WithBacking(scope.ShmBacking)},
	"disk":  {gotrace.With(), scope.WithBacking(scope.DiskBacking)},
	"heap":  {gotrace.With(), scope.WithBacking(scope.HeapBacking)},
	"ring":  {gotrace.With(gotrace.WithHeap(), gotrace.WithCounter("task-clock", 1e6)), scope.WithRing(scope.MinRing)},
}

func init() {
	if os.Getenv(replaced) != "" {
		lives()
	}
	if how, path, ok := strings.Cut(os.Getenv(replaces), "\n"); ok {
		replace(how, path)
	}
}

// replace records, and replaces itself.
func replace(how, path string) {
	how, stopped := strings.CutSuffix(how, " stopped")
	if opts := recordings[how]; opts != nil {
		if err := scope.Start(path, opts...); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		works()
	}
	if stopped {
		_ = scope.Stop()
	}
	env := []string{replaced + "=1"}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, replaces+"=") {
			env = append(env, v)
		}
	}
	fmt.Println(syscall.Exec(os.Args[0], os.Args[:1], env))
	os.Exit(1)
}

// lives prints its state, and is replaced by a program not written in Go, which uses as much CPU
// time as a leftover timer would need to fire.
func lives() {
	s, err := procstate.Self()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(s)
	}
	if err == nil {
		err = syscall.Exec("/bin/sh", []string{"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 7"}, nil)
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestG39Exec: a program that records replaces itself. The next program survives, and its state is
// the same as without a recording.
func TestG39Exec(t *testing.T) {
	faultfs.Children(t)
	run := func(t *testing.T, how string) procstate.State {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), replaces+"="+how+"\n"+filepath.Join(t.TempDir(), "x.scope"))
		out, err := cmd.Output()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 {
			t.Errorf("it ended with %v", err)
		}
		s := procstate.State{}
		if err := json.Unmarshal(out, &s); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		delete(s, "environment") // has the trace's path
		return s
	}
	alone := run(t, "alone")
	for how := range recordings {
		for _, when := range []string{"", " stopped"} {
			t.Run(how+when, func(t *testing.T) {
				if d := run(t, how+when).Differs(alone); d != nil {
					t.Errorf("the program that comes finds\n%s", strings.Join(d, "\n"))
				}
			})
		}
	}
}
