package scopeview_test

import (
	"io/fs"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/scopeview/scopeview"
)

// TestSource: the source that the tool builds into programs contains all packages that
// programs import, and their dependencies, with every file, on each system.
func TestSource(t *testing.T) {
	has := map[string]bool{}
	if err := fs.WalkDir(scopeview.Source, ".", func(name string, d fs.DirEntry, err error) error {
		has[name] = true
		return err
	}); err != nil {
		t.Fatal(err)
	}
	const of = `{{with .Module}}{{if .Main}}{{$.Dir}} {{$.GoFiles}} {{$.SFiles}} {{$.EmbedFiles}} {{$.IgnoredGoFiles}} {{$.IgnoredOtherFiles}}{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", of, "./scope/...", "./mmpool", "./flusher", "./sweeper").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		dir, files, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		packages++
		dir = strings.TrimPrefix(strings.TrimPrefix(dir, strings.TrimSpace(string(root))), "/")
		for _, f := range strings.Fields(strings.NewReplacer("[", " ", "]", " ").Replace(files)) {
			if !has[path.Join(dir, f)] {
				t.Errorf("source.go does not embed %s", path.Join(dir, f))
			}
		}
	}
	if packages < 20 {
		t.Errorf("of %d packages; the list is wrong", packages)
	}
}
