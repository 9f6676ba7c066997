//go:build unix

package count

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestG29Raw: a file planted at the path of the raw file, of its former temporary name, or
// of its parameters is neither followed nor blocks, and the raw file is private to its user.
func TestG29Raw(t *testing.T) {
	n := 0
	for _, umask := range []int{0, 0o077} {
		for _, place := range []string{".raw", ".raw.tmp", ".conf"} {
			for kind, plant := range map[string]func(victim, at string) error{
				"link": os.Symlink, "hard link": os.Link,
				"dangling": func(_, at string) error { return os.Symlink("none", at) },
				"pipe":     func(_, at string) error { return syscall.Mkfifo(at, 0o666) },
				"device":   func(_, at string) error { return os.Symlink("/dev/zero", at) },
				"dir":      func(_, at string) error { return os.Mkdir(at, 0o755) },
				"file":     func(_, at string) error { return errors.Join(os.WriteFile(at, nil, 0o666), os.Chmod(at, 0o666)) },
			} {
				n++
				planted(t, umask, place, kind, plant)
			}
		}
	}
	t.Logf("G29: %d programs that count for advice, where links, pipes, devices, directories and files were planted", n)
}

// planted runs counting with a planted file.
func planted(t *testing.T, umask int, place, kind string, plant func(victim, at string) error) {
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "p")
	if err := errors.Join(os.WriteFile(victim, []byte("# text"), 0o644), plant(victim, path+place)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, path)
	defer syscall.Umask(syscall.Umask(umask))
	done := make(chan error, 1)
	go func() { done <- errors.Join(FromEnv("", nil), Stop()) }()
	select {
	case err := <-done:
		reset()
		// Parameters are only read from a regular file; a directory can't be replaced.
		refused := kind == "dir" && place == ".raw" || place == ".conf" && kind != "file" && kind != "hard link"
		if refused != (err != nil) {
			t.Errorf("a %s at %s: %v", kind, place, err)
		}
		if st, err := os.Lstat(path + ".raw"); !refused && (err != nil || st.Mode() != 0o600 || st.Size() == 0) {
			t.Errorf("umask %03o, a %s at %s: %v, %v", umask, kind, place, st, err)
		}
	case <-time.After(time.Minute):
		t.Fatalf("a %s at %s: the program waits", kind, place)
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "# text" {
		t.Errorf("a %s at %s: its target has %q, %v", kind, place, b, err)
	}
	list, _ := os.ReadDir(dir)
	for _, e := range list {
		if strings.HasSuffix(e.Name(), ".tmp") && place != ".raw.tmp" || e.Name() == "none" {
			t.Errorf("a %s at %s: it left %s", kind, place, e.Name())
		}
	}
}
