//go:build unix

package newfile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plant creates in dir everything that could be in a file's place; victim is the target of
// the links.
func plant(t *testing.T, dir, victim string) (names []string) {
	t.Helper()
	for name, err := range map[string]error{
		"link": os.Symlink(victim, filepath.Join(dir, "link")), "dangling": os.Symlink("none", filepath.Join(dir, "dangling")),
		"itself": os.Symlink("itself", filepath.Join(dir, "itself")), "hard": os.Link(victim, filepath.Join(dir, "hard")),
		"null": os.Symlink(os.DevNull, filepath.Join(dir, "null")), "fifo": syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666),
		"dir": os.Mkdir(filepath.Join(dir, "dir"), 0o755), "file": os.WriteFile(filepath.Join(dir, "file"), []byte("theirs"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// soon fails a test whose f blocks.
func soon(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		t.Fatalf("%s: it waits", what)
		return nil
	}
}

// TestG29Guarded: whatever is at a file's path is neither followed, opened nor waited for,
// and a new file is accessible only by its user, for any umask.
func TestG29Guarded(t *testing.T) {
	n := 0
	for _, umask := range []int{0, 0o022, 0o077, 0o777} {
		dir := t.TempDir()
		victim := filepath.Join(dir, "victim")
		if err := os.WriteFile(victim, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		names := plant(t, dir, victim)
		old := syscall.Umask(umask)
		for _, name := range append(names, "new") {
			path := filepath.Join(dir, name)
			n += 3
			err := soon(t, "writing "+name, func() error { return Write(path, []byte("w")) })
			if (name == "new") != (err == nil) || err != nil && !errors.Is(err, fs.ErrExist) {
				t.Errorf("umask %03o: Write to %s: %v", umask, name, err)
			}
			err = soon(t, "opening "+name, func() error {
				f, err := Existing(path, os.O_RDWR|os.O_TRUNC)
				if err == nil {
					f.Close()
				}
				return err
			})
			if regular := name == "new" || name == "hard" || name == "file"; regular != (err == nil) && (umask&0o700 == 0 || os.Getuid() == 0) {
				t.Errorf("umask %03o: opening %s: %v", umask, name, err)
			}
			err = soon(t, "replacing "+name, func() error { return Replace(path, []byte("ours")) })
			if st, e := os.Lstat(path); (name == "dir") != (err != nil) || name != "dir" && (e != nil || st.Mode() != 0o600 || st.Size() != 4) {
				t.Errorf("umask %03o: replacing %s: %v; it is %v, %v", umask, name, err, st, e)
			}
		}
		syscall.Umask(old)
		if b, err := os.ReadFile(victim); err != nil || string(b) != "text" {
			t.Errorf("the links' target has %q, %v", b, err)
		}
		if list, err := os.ReadDir(dir); err != nil || len(list) != len(names)+2 {
			t.Errorf("the directory has %v: %v", list, err)
		}
	}
	t.Logf("G29: %d opens where links, a pipe, a directory, a device and files were planted: nothing followed, each file 0600", n)
}

// asUser names the environment variable that makes the test binary another user's process.
// Its value is the directory to write in.
const asUser = "SCOPEVIEW_TEST_NEWFILE"

func init() {
	dir := os.Getenv(asUser)
	if dir == "" {
		return
	}
	for _, name := range []string{"link", "dangling", "fifo", "file", "dir", "new"} {
		path := filepath.Join(dir, name)
		fmt.Printf("%s %t %t\n", name, Write(path, nil) == nil, Replace(path, []byte("x")) == nil)
	}
	os.Exit(0)
}

// TestG29GuardedOtherUser: in a directory like /tmp, a file that another user has put there
// stays unchanged, and is an error.
func TestG29GuardedOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	const we, they = 65533, 65534
	dir, err := os.MkdirTemp("/tmp", "scopeview-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	victim, exe := filepath.Join(dir, "victim"), filepath.Join(dir, "exe")
	b, err := os.ReadFile(os.Args[0])
	if err := errors.Join(err, os.Chmod(dir, 0o777|os.ModeSticky), os.WriteFile(exe, b, 0o755), os.Chmod(exe, 0o755), os.WriteFile(victim, []byte("text"), 0o600), os.Chown(victim, we, we)); err != nil {
		t.Fatal(err)
	}
	for _, name := range plant(t, dir, victim) {
		if name != "hard" {
			if err := os.Lchown(filepath.Join(dir, name), they, they); err != nil {
				t.Fatal(err)
			}
		}
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), asUser+"="+dir)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: we, Gid: we}}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Skip("no such process can be started here: ", err)
	}
	kill := time.AfterFunc(30*time.Second, func() { c.Process.Kill() })
	defer kill.Stop()
	n := 0
	for s := bufio.NewScanner(out); s.Scan(); n++ {
		name, did, _ := strings.Cut(s.Text(), " ")
		if want := map[bool]string{true: "true true", false: "false false"}[name == "new"]; did != want {
			t.Errorf("%s: written and replaced: %s, want %s", name, did, want)
		}
	}
	if err := c.Wait(); err != nil || n != 6 {
		t.Errorf("%d lines: %v", n, err)
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "text" {
		t.Errorf("the link's target has %q, %v", b, err)
	}
}
