//go:build unix

package newfile

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestG42Within: under a file size limit no write of this package raises SIGXFSZ, or is done
// in part. As a control, the same calls of package os raise it.
func TestG42Within(t *testing.T) {
	const most = 8 << 20 // go test has a log of its own, which is smaller
	dir := t.TempDir()
	open := func(name string, size int64) *os.File {
		f, err := Create(filepath.Join(dir, name))
		if err == nil {
			err = f.Truncate(size)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	short, long, b := open("short", 0), open("long", 2*most), make([]byte, 8)
	write := func(f *os.File, off int64) func() error {
		return func() error { _, err := WriteAt(f, b, off); return err }
	}
	cut := func(f *os.File, size int64) func() error { return func() error { return Truncate(f, size) } }
	whole := func(name string, n int, do func(string, []byte) error) func() error {
		return func() error { return do(filepath.Join(dir, name), make([]byte, n)) }
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGXFSZ, syscall.SIGWINCH)
	t.Cleanup(func() { signal.Stop(signals) })
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	limit := old
	limit.Cur = most
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old) })
	n, twins := 0, 0
	for _, c := range []struct {
		name     string
		do       func() error
		is, twin bool // whether it is beyond the limit, and whether package os is used
	}{
		{"a write up to the limit", write(short, most-8), false, false},
		{"a write across the limit", write(short, most-4), true, false},
		{"a write at the limit", write(long, most), true, false},
		{"growth to the limit", cut(short, most), false, false},
		{"growth beyond the limit", cut(short, most+1), true, false},
		{"what is longer is cut", cut(long, most+2), false, false},
		{"what is longer grows", cut(long, most+3), true, false},
		{"a new file", whole("new", most+1, Write), true, false},
		{"a new file in a file's place", whole("short", most+1, Replace), true, false},
		{"a smaller file", whole("small", most, Write), false, false},
		{"a write by os", func() error { _, err := long.WriteAt(b, most); return err }, true, true},
		{"growth by os", func() error { return short.Truncate(most + 1) }, true, true},
	} {
		err := c.do()
		if c.is != errors.Is(err, syscall.EFBIG) || !c.is && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		// Pending signals of a process are delivered by number.
		if err := syscall.Kill(os.Getpid(), syscall.SIGWINCH); err != nil {
			t.Fatal(err)
		}
		got := 0
		for s := os.Signal(nil); s != syscall.SIGWINCH; {
			select {
			case s = <-signals:
				got++
			case <-time.After(10 * time.Second):
				t.Fatal("no signal comes")
			}
		}
		if got--; (got > 0) != c.twin {
			t.Errorf("%s: SIGXFSZ came %d times", c.name, got)
		}
		if n++; c.twin {
			twins++
		}
	}
	for name, size := range map[string]int64{"short": most, "long": most + 2, "small": most} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() != size {
			t.Errorf("%s: %v, %v, want %d bytes", name, st, err, size)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 3 {
		t.Errorf("there is %q", left)
	}
	t.Logf("G42: %d writes up to and beyond the limit of files: SIGXFSZ for the %d of package os alone", n, twins)
}
