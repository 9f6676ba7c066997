//go:build !scope_off && !race

package record_test

import (
	"bufio"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// shortEnds are those of TestG40 that are tried always; the others in full.
var shortEnds = []string{"mutex", "select", "func", "listen"}

// TestG40 runs programs that come to a deadlock, or to what looks like one, alone and with a
// recording: they end with the same exit code, and say the same first.
func TestG40(t *testing.T) {
	faultfs.Children(t)
	program := filepath.Join(t.TempDir(), "asleep")
	build := exec.Command("go", "build", "-o", program, "./testdata/asleep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	recordings := []string{"shm"}
	if faultfs.Full() {
		recordings = []string{"shm", "1", "2", "ring", "1,ring"}
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
				gotCode, got := endOf(t, program, end, how, filepath.Join(t.TempDir(), "x.scope"))
				if gotCode != wantCode || wantCode != code || got != want {
					t.Errorf("it ends with %d, %q; alone with %d, %q", gotCode, got, wantCode, want)
				}
			})
		}
	}
}

// endOf is the exit code of a program, and the first line that it says on standard error. What waits
// for a signal or a connection gets it after two seconds.
func endOf(t *testing.T, program string, args ...string) (code int, said string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
		time.Sleep(2 * time.Second)
		_ = cmd.Process.Signal(syscall.SIGUSR1)
	case "listen":
		addr, _ := bufio.NewReader(out).ReadString('\n')
		time.Sleep(2 * time.Second)
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
