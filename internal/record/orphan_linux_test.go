//go:build !scope_off && !scope_pure && !race

package record_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestG35: traces and hot files vanish, move and change owners before, during and
// after a recording: each hot file is adopted by its trace, or removed with it,
// and none causes an error in the next recording.
func TestG35(t *testing.T) {
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const they = 65534
	n := 0
	for _, c := range []struct {
		what string
		then func(t *testing.T, path string) // runs after the kill, before the next recording into path
		kept string                          // where the killed program's trace is afterwards; "": nowhere
	}{
		{"removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, ""},
		{"renamed", func(t *testing.T, path string) {
			must(t, os.Rename(path, filepath.Join(filepath.Dir(path), "kept.scope")))
		}, "kept.scope"},
		{"moved, with a link there", func(t *testing.T, path string) {
			to := filepath.Join(filepath.Dir(path), "kept")
			must(t, os.Rename(path, to))
			must(t, os.Symlink(to, filepath.Join(filepath.Dir(path), "link.scope")))
			must(t, os.Symlink(to, path))
		}, "kept"},
		{"replaced by a file that is no trace", func(t *testing.T, path string) {
			must(t, os.Rename(path, filepath.Join(filepath.Dir(path), "kept.scope")))
			must(t, os.WriteFile(path, []byte("text"), 0o600))
		}, "kept.scope"},
		{"given away", func(t *testing.T, path string) {
			if os.Chown(path, they, they) != nil {
				t.Skip("giving a file to another user needs root")
			}
		}, ""},
	} {
		for name, backing := range map[string]Option{"shm": WithBacking(ShmBacking), "disk": WithBacking(DiskBacking)} {
			t.Run("before, "+c.what+", "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x.scope")
				x := expose(t, os.Args[0], "shm", path, nil)
				left := hotOf(t, path)
				must(t, x.cmd.Process.Kill())
				_ = x.cmd.Wait()
				if !there(left) {
					t.Fatal("a killed program has left no hot file, so that nothing is proved")
				}
				c.then(t, path)
				at := path
				if there(path) {
					at = filepath.Join(t.TempDir(), "y.scope")
				}
				must(t, Start(at, backing, shortTicks()))
				t.Cleanup(func() { _ = Stop() })
				Task("b")()
				until(t, "the killed program's hot file gone", func() bool { return !there(left) })
				must(t, Stop())
				if err := Stats().LastError; err != nil {
					t.Errorf("the recording has the error %v", err)
				}
				if c.kept != "" {
					if r := read(t, filepath.Join(filepath.Dir(path), c.kept)); len(r.named("a")) != 1 {
						t.Errorf("the killed program's trace has %v", r.lines())
					}
				}
				n++
			})
		}
	}
	for what, during := range map[string]func(t *testing.T, left string){
		"the trace removed":       func(t *testing.T, _ string) { must(t, os.Remove(Path())) },
		"the trace renamed":       func(t *testing.T, _ string) { must(t, os.Rename(Path(), Path()+"x")) },
		"the hot file removed":    func(t *testing.T, left string) { must(t, os.Remove(left)) },
		"another recording began": func(t *testing.T, left string) { expose(t, os.Args[0], "shm", t.TempDir(), nil).end(t) },
	} {
		t.Run("during, "+what, func(t *testing.T) {
			start(t, WithBacking(ShmBacking), shortTicks())
			Task("a")()
			left := hotOf(t, Path())
			during(t, left)
			must(t, Stop())
			if err := Stats().LastError; err != nil {
				t.Errorf("the recording has the error %v", err)
			}
			if there(left) {
				t.Error("its hot file is there after Stop")
			}
			n++
		})
	}
	for act, says := range map[string]string{"setuid": "now empty, was left; remove it: remove " + hot.Dir, "chroot": "LastError: <nil>"} {
		t.Run("after "+act, func(t *testing.T) {
			if os.Getuid() != 0 {
				t.Skip(act + " needs root")
			}
			path := filepath.Join(t.TempDir(), "x.scope")
			x := expose(t, os.Args[0], act, path, nil)
			if !strings.HasPrefix(x.said, "Stop: <nil>, ") || !strings.Contains(x.said, says) {
				t.Errorf("the program has %q, want %q", x.said, says)
			}
			_ = x.cmd.Wait()
			tr, err := trace.OpenFile(path)
			must(t, err)
			defer tr.Close()
			if !tr.Closed() {
				t.Error("its trace is not closed")
			}
			left := hotOf(t, path)
			st, err := os.Stat(left)
			must(t, err)
			if held := st.Sys().(*syscall.Stat_t).Blocks * 512; st.Size() != 0 || held != 0 {
				t.Errorf("its hot file has %d bytes, %d of memory", st.Size(), held)
			}
			n++
		})
	}
	t.Logf("G35: %d recordings, their traces and hot files removed, renamed, replaced and given away before, during and after them: no hot file holds memory, and none is an error of a recording", n)
}
