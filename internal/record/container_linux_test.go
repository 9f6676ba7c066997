//go:build !scope_off

package record_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// exposedMount names what a process mounts where, in a namespace of its own, as "from:to"; empty:
// nothing.
const exposedMount = "SCOPE_EXPOSED_MOUNT"

// containedScopes is the number of scopes that such a process records.
const containedScopes = 50_000

// contained records in a container: its traces are on a disk of its own, at a path that others have
// too, while /dev/shm is shared.
func contained(t *testing.T, path string) {
	if from, to, ok := strings.Cut(os.Getenv(exposedMount), ":"); ok {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(from, to, "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := Start(path, WithBacking(ShmBacking)); err != nil {
		t.Fatal(err)
	}
	for range containedScopes {
		Task("a")()
	}
	fmt.Println("= " + Path())
	_, _ = io.Copy(io.Discard, os.Stdin)
	finish(t)
}

// TestG44: two containers share /dev/shm and the user, and have a trace at the same path, each on a
// disk of its own. The first one's program is killed. A recording in the second one does not touch
// its hot file, and the next recording on the first one's disk adopts it.
func TestG44(t *testing.T) {
	if !record.HaveDisk {
		t.Skip("there are no hot files on the pure path")
	}
	if os.Getuid() != 0 {
		t.Skip("mounting needs root")
	}
	n := 0
	for name, flags := range map[string]uintptr{
		"mounts": syscall.CLONE_NEWNS, "and processes": syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, "and users": syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
	} {
		for _, disk := range []string{"directory", "tmpfs"} {
			t.Run(name+", "+disk, func(t *testing.T) {
				twoContainers(t, flags, disk)
				n++
			})
		}
	}
	t.Logf("G44: %d times a program was killed in a container, and others recorded beside it: its %d scopes are all there", n, containedScopes)
}

func twoContainers(t *testing.T, flags uintptr, disk string) {
	dir := t.TempDir()
	at := filepath.Join(dir, "traces")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"traces", "1", "2"} {
		must(os.Mkdir(filepath.Join(dir, d), 0o700))
		if disk == "tmpfs" && d != "traces" {
			must(unix.Mount("none", filepath.Join(dir, d), "tmpfs", 0, "mode=700"))
			t.Cleanup(func() { unix.Unmount(filepath.Join(dir, d), unix.MNT_DETACH) })
		}
	}
	run := func(which, name string) *exposed {
		t.Setenv(exposedMount, filepath.Join(dir, which)+":"+at)
		attr := &syscall.SysProcAttr{Cloneflags: flags}
		if flags&syscall.CLONE_NEWUSER != 0 {
			attr.UidMappings = []syscall.SysProcIDMap{{Size: 1}}
			attr.GidMappings = attr.UidMappings
		}
		return expose(t, os.Args[0], "container", filepath.Join(at, name), attr)
	}
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	first := filepath.Join(dir, "1", "x.scope")
	x := run("1", "x.scope")
	left := hotOf(t, first)
	x.kill(t)
	seen := func() bool {
		f, err := os.Open(left)
		if err != nil {
			return true
		}
		defer f.Close()
		var b [8]byte
		_, err = f.ReadAt(b[:], format.HotSeenOffset)
		return err == nil && b != [8]byte{}
	}
	for range 2 {
		x := run("2", "x.scope")
		until(t, "the hot file looked at", seen)
		x.end(t)
		if !there(left) {
			t.Fatal("the hot file is gone")
		}
		must(os.Remove(filepath.Join(dir, "2", "x.scope")))
	}
	allThere(t, first)
	x = run("1", "y.scope")
	until(t, "the hot file adopted on its own disk", func() bool { return !there(left) })
	x.end(t)
	allThere(t, first)
}

// allThere checks that a killed program's trace has all scopes. Effects of the kill itself, such as
// an unfinished record, are not errors.
func allThere(t *testing.T, path string) {
	t.Helper()
	n := 0
	tr, problems := eachAnyway(t, path, func(tr *trace.Trace, e *trace.Event) {
		if tr.Name(e.Name) == "a" {
			n++
		}
	})
	for _, p := range problems {
		if p.Damage() {
			t.Errorf("problem at %d (%d times): %s", p.Offset, p.Count, p.Text)
		}
	}
	if n != containedScopes || tr.LacksHotPart() {
		t.Errorf("%d scopes of %d are there, the hot part is missing: %t", n, containedScopes, tr.LacksHotPart())
	}
}
