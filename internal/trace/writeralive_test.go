//go:build linux || darwin

package trace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

func TestWriterAlive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.scope")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := filetest.Open(t, path)
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
	// WriterAlive left no lock behind.
	w, err = os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := syscall.Flock(int(w.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("a lock was left: %v", err)
	}
}

// TestEventsOfATraceThatGrows checks that records that began after a growing trace was opened are
// left out.
func TestEventsOfATraceThatGrows(t *testing.T) {
	const before = "header\nstate closed=0 tick=1000\nchunk blocks\nname 2 \"a\"\nchunk records\nevent \"a\" g=1 start=1000\n"
	for _, writes := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "t.scope")
		tracetest.Write(t, path, before)
		w, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if writes {
			if err := syscall.Flock(int(w.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				t.Skip("no locks here: ", err)
			}
		}
		tr := tracetest.OpenFile(t, path)
		if _, err := w.WriteAt(tracetest.Assemble(t, before+"event \"a\" g=1 start=2000\n"), 0); err != nil {
			t.Fatal(err)
		}
		n, want := 0, 2
		if writes {
			want = 1
		}
		err = tr.Events(trace.Options{}, func(*trace.Event) bool { n++; return true })
		if err != nil || n != want {
			t.Errorf("a program writes it: %v: %d events, error %v, want %d", writes, n, err, want)
		}
	}
}
