//go:build !scope_off && !race

package record_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// shortEnds are the cases of TestG40 that always run; the others run in full mode.
var shortEnds = []string{"mutex", "select", "func", "listen"}

// Backings, as arguments of the program.
var disk, heap = fmt.Sprint(int(DiskBacking)), fmt.Sprint(int(HeapBacking))

// TestG40 runs programs that deadlock, or seem to, alone and with a recording: they end with the
// same exit code and the same first message.
func TestG40(t *testing.T) {
	faultfs.Children(t)
	program := buildAsleep(t)
	recordings := []string{"shm"}
	if faultfs.Full() {
		recordings = []string{"shm", disk, heap, "ring", disk + ",ring", heap + ",ring"}
	}
	for _, how := range recordings {
		for end, code := range map[string]int{
			"mutex": 2, "rwmutex": 2, "channel": 2, "nil": 2, "group": 2, "cond": 2, "select": 2, "others": 2, "locked": 2,
			"sleep": 10, "after": 11, "func": 12, "ticker": 13, "long": 14, "pipe": 15, "call": 16, "signal": 17, "listen": 18, "work": 19,
		} {
			if !faultfs.Full() && !slices.Contains(shortEnds, end) {
				continue
			}
			t.Run(how+"/"+end, func(t *testing.T) {
				t.Parallel()
				wantCode, want := endOf(t, program, end)
				path := filepath.Join(t.TempDir(), "x.scope")
				gotCode, got := endOf(t, program, end, how, path)
				if gotCode != wantCode || wantCode != code || got != want {
					t.Errorf("it ends with %d, %q; alone with %d, %q", gotCode, got, wantCode, want)
				}
				checkAsleep(t, path, code == 2, strings.HasPrefix(how, heap))
			})
		}
	}
}

func buildAsleep(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "asleep")
	build := exec.Command("go", "build", "-o", program, "./testdata/asleep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestG40Busy: with the default heartbeat, beside five busy programs per processor, one of the
// first checks detects a deadlock. Earlier, Go's monitor waiting for a processor was taken for a
// working thread.
func TestG40Busy(t *testing.T) {
	faultfs.Children(t)
	if !faultfs.Full() {
		t.Skip("it takes all processors for some seconds; SCOPEVIEW_FAULT=full")
	}
	program := buildAsleep(t)
	for range 5 * runtime.NumCPU() {
		busy := exec.Command("timeout", "120", "sh", "-c", "while :; do :; done")
		busy.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := busy.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = syscall.Kill(-busy.Process.Pid, syscall.SIGKILL), busy.Wait() }()
	}
	t.Setenv("ASLEEP_USUAL", "1")
	var took []time.Duration
	for _, end := range []string{"mutex", "select", "group", "cond", "channel"} {
		begin := time.Now()
		if code, said := endOf(t, program, end, "shm", filepath.Join(t.TempDir(), "x.scope")); code != 2 {
			t.Errorf("%s ends with %d, %q", end, code, said)
		}
		took = append(took, time.Since(begin).Round(100*time.Millisecond))
	}
	t.Logf("G40: on a busy machine deadlocks end after %v", took)
	if most := slices.Max(took); most > 20*time.Second {
		t.Errorf("one took %v", most)
	}
}

// checkAsleep checks the trace. If the file is a copy, the last records may be missing.
func checkAsleep(t *testing.T, path string, dead, copied bool) {
	t.Helper()
	ended := 0
	tr, _ := eachAnyway(t, path, func(tr *trace.Trace, e *trace.Event) {
		if tr.Name(e.Name) == "ended" && !e.Open {
			ended++
		}
	})
	if ended != 1 {
		t.Errorf("the trace has %d scopes that ended, want 1", ended)
	}
	if said := tr.Lookup("deadlock") != ""; said != dead && !(dead && copied) {
		t.Errorf("the trace says that there is a deadlock: %v, want %v", said, dead)
	}
}

// looking waits until the program's recording, if it has one, has checked more than once.
func looking(t *testing.T, args []string) {
	t.Helper()
	if len(args) < 3 {
		return
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		tr, err := trace.OpenFile(args[2])
		if err != nil {
			continue
		}
		beats := tr.Beats()
		tr.Close()
		if n := len(beats); n > 0 && beats[n-1].Time > int64(time.Second) {
			return
		}
	}
	t.Error("the recording has no heartbeats")
}

// endOf returns a program's exit code, and the first line of its standard error. What waits for a
// signal or a connection gets it when the recording, if there is one, has been looking for a while.
func endOf(t *testing.T, program string, args ...string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	switch args[0] {
	case "signal":
		_, _ = bufio.NewReader(out).ReadString('\n') // it listens
		looking(t, args)
		_ = cmd.Process.Signal(syscall.SIGUSR1)
	case "listen":
		addr, _ := bufio.NewReader(out).ReadString('\n')
		looking(t, args)
		if c, err := net.Dial("tcp", strings.TrimSpace(addr)); err != nil {
			t.Error(err)
		} else {
			c.Close()
		}
	}
	_ = cmd.Wait()
	said, _, _ = strings.Cut(errs.String(), "\n")
	return cmd.ProcessState.ExitCode(), said
}
