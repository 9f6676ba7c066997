// Command prepare rewrites the go.mod files of the checkout in the working directory for a
// release, and prints the tags for its commit: make release VERSION=v1.2.3.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/release/publish"
)

func main() {
	if err := prepare(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "prepare: %v\n", err)
		os.Exit(1)
	}
}

func prepare(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%d arguments: give the version, as v1.2.3", len(args))
	}
	files := map[string][]byte{}
	var tags []string
	for _, dir := range publish.Modules {
		path := filepath.Join(dir, "go.mod")
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if files[path], err = publish.GoMod(data, args[0]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		tags = append(tags, publish.Tag(dir, args[0]))
	}
	for path, data := range files {
		if err := newfile.Replace(path, data); err != nil {
			return err
		}
	}
	fmt.Printf(`The go.mod files are those of %[1]s. Commit them, tag that commit, and take it back for what comes then:
  git commit -am 'release %[1]s'
  for tag in %[2]s; do git tag $tag; done
  git revert --no-edit HEAD
`, args[0], strings.Join(tags, " "))
	return nil
}
