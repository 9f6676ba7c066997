package heartbeat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// fakeProc writes files (paths relative to a root, which contents refer to as
// ROOT) and returns the root. proc/self links to process 42.
func fakeProc(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, content string) {
		p := filepath.Join(root, name)
		filetest.Write(t, p, []byte(content))
	}
	for name, content := range files {
		write(name, strings.ReplaceAll(content, "ROOT", root))
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/42"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("42", filepath.Join(root, "proc/self")); err != nil {
		t.Fatal(err)
	}
	return root
}

// sampleAt takes the first beat of a process whose procfs is at root/proc.
func sampleAt(root string) (*Sampler, beat) {
	s := &Sampler{}
	s.process.initAt(filepath.Join(root, "proc"))
	var b beat
	s.process.read(&b)
	return s, b
}
