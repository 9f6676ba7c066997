//go:build (linux || darwin) && !scope_off

package record_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	. "github.com/scopeview/scopeview/scope"
)

// TestG29Modes checks that other users can't read what a recording writes, whatever the
// umask: the trace, its segments, snapshots taken by the program, from outside and by a
// trigger, and the hot file.
func TestG29Modes(t *testing.T) {
	n, parts, hot, masks := 0, 0, 0, map[int]bool{}
	perBacking(t, func(t *testing.T, backing Option) {
		for _, umask := range []int{0, 0o022, 0o077, 0o277, 0o777} {
			if umask&0o700 != 0 && os.Getuid() != 0 {
				continue // only root could use such a directory
			}
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			func() {
				defer unix.Umask(unix.Umask(umask))
				if err := Start(at("new/"), backing, WithSegments(4<<20, 2), shortTicks(), WithTrigger("slow", 10*time.Microsecond, at("triggered"))); err != nil {
					t.Fatalf("umask %03o: %v", umask, err)
				}
				defer Stop()
				Task("a")()
				slow := Begin("slow")
				time.Sleep(time.Millisecond)
				slow.End()
				if err := Snapshot(at("snapshot")); err != nil {
					t.Errorf("umask %03o: %v", umask, err)
				}
				if a := ask(t, 1, format.CommandSnapshot, at("asked")); a.Failed {
					t.Errorf("umask %03o: %s", umask, a.Text)
				}
				until(t, "the trigger's snapshot", func() bool { return Stats().Snapshots == 3 })
				if st, err := os.Stat(hotOf(t, Path())); err == nil {
					hot++
					if st.Mode() != 0o600 {
						t.Errorf("umask %03o: the hot file has mode %v", umask, st.Mode())
					}
				}
				if err := Stop(); err != nil {
					t.Error(err)
				}
			}()
			files, segments := 0, 0
			err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
				switch {
				case err != nil:
					return err
				case path == dir:
				case st.IsDir():
					if want := os.FileMode(0o700 &^ umask); st.Mode().Perm() != want {
						t.Errorf("umask %03o: the directory %s has mode %v, want %v", umask, path, st.Mode(), want)
					}
				default:
					if _, _, ok := format.SegmentNumber(path); ok {
						segments++
					} else {
						files++
					}
					if st.Mode() != 0o600 {
						t.Errorf("umask %03o: %s has mode %v", umask, path, st.Mode())
					}
				}
				return nil
			})
			if err != nil || files != 4 || segments == 0 {
				t.Errorf("umask %03o: %d files and %d segments, want a trace in segments and three snapshots: %v", umask, files, segments, err)
			}
			n, parts = n+files, parts+segments
			masks[umask] = true
		}
	})
	t.Logf("G29: %d traces and snapshots, %d segments and %d hot files under %d umasks: each has mode 0600", n, parts, hot, len(masks))
}

// TestG29Links checks that a link or a pipe in the place of a trace or a snapshot is not
// followed: otherwise a user with access to the directory could have any file overwritten,
// or read.
func TestG29Links(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := Start(at("trace")); err != nil {
		t.Fatal(err)
	}
	stop(t)
	filetest.Write(t, at("victim"), []byte("text"))
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
	// A link to a directory counts as a directory.
	if err := Start(at("to dir"), WithRing(8<<20), shortTicks()); err != nil {
		t.Fatal(err)
	}
	number := uint64(0)
	for _, name := range []string{"to victim", "to trace", "to nothing", "to itself", "fifo"} {
		if err := Snapshot(at(name)); !errors.Is(err, ErrExists) {
			t.Errorf("a snapshot to %s: %v, want ErrExists", name, err)
		}
		number++
		if a := ask(t, number, format.CommandSnapshot, at(name)); !a.Failed || !strings.Contains(a.Text, "exists") {
			t.Errorf("a snapshot from outside to %s: %+v", name, a)
		}
	}
	stop(t)
	if got := ls(t, dir); len(got) != len(before)+1 { // the one in the directory behind the link
		t.Errorf("the directory had %q and has %q", before, got)
	}
	if b, err := os.ReadFile(at("victim")); err != nil || string(b) != "text" {
		t.Errorf("the link's target is %q: %v", b, err)
	}
	if got := ls(t, at("dir")); len(got) != 1 {
		t.Errorf("the directory behind the link has %q", got)
	}
	t.Logf("G29: 5 planted links and pipes, each for Start, WithOverwrite, Snapshot and a request from outside: refused, nothing followed")
}

// TestG29Thin: another user's files with the names of our triggered snapshots are not
// removed, and do not count as ours.
func TestG29Thin(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making files of another user needs root")
	}
	dir := t.TempDir()
	name := func(second int) string {
		return filepath.Join(dir, fmt.Sprintf("%s-slow-20260101T0000%02dZ-1-00000000.scope", record.ProgramName(), second))
	}
	for i := range record.TriggerFiles + 5 { // ours, each between two of the other user's
		filetest.Write(t, name(3*i+1), nil)
		for _, err := range []error{os.WriteFile(name(3*i), nil, 0o666), os.Chown(name(3*i), 65534, 65534), os.Symlink("x", name(3*i+2))} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	record.Thin(dir)
	got := ls(t, dir)
	if want := 2*(record.TriggerFiles+5) + record.TriggerFiles; len(got) != want {
		t.Errorf("%d are left, want %d", len(got), want)
	}
	for i := range record.TriggerFiles + 5 {
		if _, err := os.Lstat(name(3*i + 1)); (err == nil) != (i >= 5) {
			t.Errorf("ours number %d: %v", i, err)
		}
	}
	t.Logf("G29: of %d triggered snapshots among %d files and links of another user the %d newest are left, and all of the other's", record.TriggerFiles+5, 2*(record.TriggerFiles+5), record.TriggerFiles)
}

// TestOverwriteRunning: another descriptor holds the trace's lock, as its writer does: it
// is not overwritten.
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

// TestDescriptorIsNotInherited checks that a program's children do not inherit the
// trace's descriptor, and that other processes see that it is being written.
func TestDescriptorIsNotInherited(t *testing.T) {
	start(t)
	flags, err := unix.FcntlInt(record.Current.Load().File().Fd(), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("the descriptor's flags are %#x: %v", flags, err)
	}
	f := filetest.Open(t, Path())
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EWOULDBLOCK) {
		t.Errorf("the trace's lock is free while it is written: %v", err)
	}
	stop(t)
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("the trace's lock is held after Stop: %v", err)
	}
}
