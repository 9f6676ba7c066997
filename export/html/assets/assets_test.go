package assets

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"
)

// TestFiles: Files contains each script and style sheet of this directory except the tests,
// including those of new folders.
func TestFiles(t *testing.T) {
	list := func(of fs.FS) (all []string) {
		err := fs.WalkDir(of, ".", func(p string, d fs.DirEntry, err error) error {
			if p == "test" {
				return fs.SkipDir
			}
			if slices.Contains([]string{".js", ".css", ".html"}, path.Ext(p)) {
				all = append(all, p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if got, want := list(Files), list(os.DirFS(".")); !slices.Equal(got, want) || len(want) < 50 {
		t.Errorf("Files has\n%q, here are\n%q", got, want)
	}
}
