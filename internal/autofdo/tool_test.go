package autofdo

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// profdata runs llvm-profdata 14, or skips the test. It returns its output and whether it
// succeeds.
func profdata(t *testing.T, dir string, args ...string) (out string, ok bool) {
	t.Helper()
	path, err := exec.LookPath("llvm-profdata-14")
	if err != nil {
		t.Skip("needs llvm-profdata-14 (Debian's package llvm): make deps installs it")
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	return string(b), err == nil
}

// canonical has llvm-profdata read a profile and write it as text. If llvm-profdata refuses it,
// out is the message.
func canonical(t *testing.T, text string) (out string, ok bool) {
	t.Helper()
	dir := t.TempDir()
	save(t, dir, "FILE", text)
	if out, ok = profdata(t, dir, "merge", "--sample", "--text", "FILE", "-o", "OUT"); !ok {
		return strings.TrimPrefix(strings.TrimSuffix(out, "\n"), "error: "), false
	}
	return load(t, dir, "OUT"), true
}

func save(t *testing.T, dir, name, text string) {
	t.Helper()
	filetest.Write(t, filepath.Join(dir, name), []byte(text))
}

func load(t *testing.T, dir, name string) string {
	t.Helper()
	b := filetest.Read(t, filepath.Join(dir, name))
	return string(b)
}

// strict reads a valid profile.
func strict(t *testing.T, text string) *Profile {
	t.Helper()
	p, _, err := Read(strings.NewReader(text), "FILE", false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t *testing.T, p *Profile) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
