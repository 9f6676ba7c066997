//go:build scope_testpoint && unix

package testpoint

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const childVar = "SCOPEVIEW_TESTPOINT_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		for range 3 {
			Here("other")
			Here("x")
		}
		os.Exit(7)
	}
	os.Exit(m.Run())
}

// TestHere: each action is taken only at its name, and only at the requested pass.
func TestHere(t *testing.T) {
	for _, c := range []struct {
		orders  string
		written string
		killed  bool // by the test, or by the point
		parked  bool
	}{
		{"x:2:kill", "", true, false},
		{"x:4:kill", "", false, false},
		{"y:1:kill,x:1:pass", "x\n", false, false},
		{"x:3:pass,other:1:pass", "other\nx\n", false, false},
		{"x:1:park", "x\n", true, true},
		{"nonsense,x:one:kill,:", "", false, false},
	} {
		t.Run(c.orders, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), childVar+"=1", "SCOPEVIEW_TESTPOINTS="+c.orders, "SCOPEVIEW_TESTPOINTS_FD=3")
			child.ExtraFiles = []*os.File{w}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var written bytes.Buffer
			if c.parked { // it stays: nothing else is written
				b := make([]byte, len(c.written))
				if _, err := io.ReadFull(r, b); err != nil {
					t.Error(err)
				}
				written.Write(b)
				if err := child.Process.Signal(syscall.Signal(0)); err != nil {
					t.Errorf("it has not stayed: %v", err)
				}
				_ = child.Process.Kill()
			}
			if _, err := io.Copy(&written, r); err != nil {
				t.Error(err)
			}
			_ = child.Wait()
			ws := child.ProcessState.Sys().(syscall.WaitStatus)
			if killed := ws.Signaled() && ws.Signal() == syscall.SIGKILL; killed != c.killed || !killed && ws.ExitStatus() != 7 {
				t.Errorf("it ended by %v", child.ProcessState)
			}
			if written.String() != c.written {
				t.Errorf("it wrote %q, want %q", &written, c.written)
			}
		})
	}
}
