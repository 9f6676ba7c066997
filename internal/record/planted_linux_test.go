//go:build !scope_off && !scope_pure && !race

package record_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	. "github.com/scopeview/scopeview/scope"
)

// TestG29Hot: all users may write to /dev/shm. What others put there under the name
// of a hot file is neither followed, nor trusted, nor removed, and does not delay a
// recording; the hot file of a killed program of the same user is adopted.
func TestG29Hot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making files of another user needs root")
	}
	const they = 65534
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	// Two programs are killed. The hot file of one then belongs to another user.
	killed := func(owner int) (path, hot string) {
		x := expose(t, os.Args[0], "shm", dir, nil)
		hot = hotOf(t, x.said)
		t.Cleanup(func() { os.Remove(hot) })
		must(os.Chown(hot, owner, owner))
		must(x.cmd.Process.Kill())
		_ = x.cmd.Wait()
		return x.said, hot
	}
	path, ours := killed(0)
	foreign, theirs := killed(they)
	before, err := os.ReadFile(foreign)
	must(err)
	victim := filepath.Join(dir, "victim")
	must(os.WriteFile(victim, []byte("text"), 0o600))
	planted := []string{theirs}
	for _, plant := range []func(string) error{
		func(p string) error { return os.Symlink(victim, p) },
		func(p string) error { return os.Symlink(ours, p) },
		func(p string) error { return unix.Mkfifo(p, 0o666) },
		func(p string) error { return os.Mkdir(p, 0o777) },
		func(p string) error { return os.WriteFile(p, []byte("SCOPEHOT"), 0o666) },
	} {
		var id [16]byte
		rand.Read(id[:])
		p := filepath.Join(hot.Dir, format.HotName(id))
		must(plant(p))
		t.Cleanup(func() { os.Remove(p) })
		must(os.Lchown(p, they, they))
		planted = append(planted, p)
	}
	start(t, WithBacking(ShmBacking), shortTicks())
	Task("a")()
	until(t, "the killed program's hot file gone", func() bool { _, err := os.Lstat(ours); return err != nil })
	stop(t)
	for _, p := range planted {
		if _, err := os.Lstat(p); err != nil {
			t.Errorf("%v: what another user has there was removed", err)
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "text" {
		t.Errorf("the link's target has %q, %v", b, err)
	}
	if after, err := os.ReadFile(foreign); err != nil || !bytes.Equal(before, after) {
		t.Errorf("another user's hot file was brought into a trace: %v", err)
	}
	if r := read(t, path); len(r.named("a")) != 1 {
		t.Errorf("the killed program's trace has %v", r.lines())
	}
	t.Logf("G29: %d hot files, links, a pipe and a directory of another user in /dev/shm left alone, 1 of our own brought home", len(planted))
}
