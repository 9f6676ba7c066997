//go:build (linux || darwin) && !scope_off

package scope

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMode checks that nobody else may read a trace, whatever the umask is.
func TestMode(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o077, 0o277, 0o777} {
		dir := t.TempDir()
		old := unix.Umask(umask)
		err := Start(dir)
		unix.Umask(old)
		if err != nil {
			t.Errorf("umask %03o: %v", umask, err)
			continue
		}
		Task("a")()
		stop(t)
		st, err := os.Stat(Path())
		if err != nil || st.Mode() != 0o600 {
			t.Errorf("umask %03o: mode %v: %v", umask, st.Mode(), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := Start(dir + "/"); err != nil {
		t.Fatal(err)
	}
	stop(t)
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory made has mode %v: %v", st.Mode(), err)
	}
}

// TestLinks checks that a link in the trace's place is not followed: who may
// write into the directory could have anything overwritten.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := Start(at("trace")); err != nil {
		t.Fatal(err)
	}
	stop(t)
	if err := os.WriteFile(at("victim"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"to victim": "victim", "to trace": "trace", "to nothing": "nothing", "to dir": "dir", "to itself": "to itself"} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(at("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := ls(t, dir)
	for _, name := range []string{"to victim", "to trace", "to nothing", "to itself", "fifo"} {
		for _, opts := range [][]Option{nil, {WithOverwrite()}} {
			if err := Start(at(name), opts...); !errors.Is(err, ErrExists) {
				t.Errorf("%s, %d options: %v, want ErrExists", name, len(opts), err)
			}
		}
	}
	if got := ls(t, dir); !slices.Equal(got, before) {
		t.Errorf("the directory had %q and has %q", before, got)
	}
	if b, err := os.ReadFile(at("victim")); err != nil || string(b) != "text" {
		t.Errorf("the link's target is %q: %v", b, err)
	}
	// A link to a directory is a directory.
	if err := Start(at("to dir")); err != nil {
		t.Fatal(err)
	}
	stop(t)
	if got := ls(t, at("dir")); len(got) != 1 {
		t.Errorf("the directory behind the link has %q", got)
	}
}

// TestOverwriteRunning has another descriptor hold the trace's lock, as its
// writer does: it is not overwritten.
func TestOverwriteRunning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.scope")
	if err := Start(path); err != nil {
		t.Fatal(err)
	}
	stop(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := Start(path, WithOverwrite()); !errors.Is(err, ErrExists) {
		t.Errorf("a trace that is being written: %v, want ErrExists", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := Start(path, WithOverwrite()); err != nil {
		t.Errorf("its writer is gone: %v", err)
	} else {
		stop(t)
	}
}

// TestDescriptorIsNotInherited checks that a program's children don't get the
// trace, and that others see that it is being written.
func TestDescriptorIsNotInherited(t *testing.T) {
	start(t)
	flags, err := unix.FcntlInt(current.Load().file.Fd(), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("the descriptor's flags are %#x: %v", flags, err)
	}
	f, err := os.Open(Path())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("the trace's lock is free while it is written: %v", err)
	}
	stop(t)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("the trace's lock is held after Stop: %v", err)
	}
}
