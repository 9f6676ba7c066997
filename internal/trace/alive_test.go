//go:build linux || darwin

package trace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
)

func TestWriterAlive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.scope")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if alive, known := trace.WriterAlive(r); alive || !known {
		t.Errorf("nobody writes: %v, %v", alive, known)
	}
	if err := syscall.Flock(int(w.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Skip("no locks here: ", err)
	}
	if alive, known := trace.WriterAlive(r); !alive || !known {
		t.Errorf("somebody writes: %v, %v", alive, known)
	}
	w.Close() // as its death would
	if alive, known := trace.WriterAlive(r); alive || !known {
		t.Errorf("it died: %v, %v", alive, known)
	}
	// Asking left no lock behind.
	w, err = os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := syscall.Flock(int(w.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("a lock was left: %v", err)
	}
}
