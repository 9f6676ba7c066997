//go:build unix && !scope_off

package auto

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestG29: Start does not follow a file planted at the trace's path, but takes
// another name; and whatever the umask, only the user has access to the trace.
func TestG29(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	filetest.Write(t, victim, []byte("text"))
	planted := []error{os.Symlink(victim, filepath.Join(dir, "link.scope")), os.Symlink("none", filepath.Join(dir, "dangling.scope")), syscall.Mkfifo(filepath.Join(dir, "fifo.scope"), 0o666)}
	for _, err := range planted {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, name := range []string{"link", "dangling", "fifo"} {
		for _, umask := range []int{0, 0o777} {
			old := syscall.Umask(umask)
			said := run(t, "leaf", "SCOPEVIEW="+filepath.Join(dir, name+".scope"))
			syscall.Umask(old)
			if said != "" {
				t.Errorf("%s: printed %q", name, said)
			}
			n++
		}
		made, err := filepath.Glob(filepath.Join(dir, name+"-*.scope"))
		if err != nil || len(made) != 2 {
			t.Fatalf("%s: %q, %v", name, made, err)
		}
		for _, path := range made {
			if st, err := os.Lstat(path); err != nil || st.Mode() != 0o600 {
				t.Errorf("%s: %v, %v", path, st.Mode(), err)
			}
			if got := names(t, path); !strings.Contains(got, "kept") {
				t.Errorf("%s has %q", path, got)
			}
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "text" {
		t.Errorf("the link's target has %q, %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "none")); err == nil {
		t.Error("the dangling link was followed")
	}
	t.Logf("G29: %d recordings by the environment where a link, a dangling link and a pipe were planted: each beside it, mode 0600", n)
}
