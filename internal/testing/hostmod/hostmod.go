// Package hostmod creates modules of programs that use the working tree of this module.
package hostmod

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
)

const module = "github.com/scopeview/scopeview"

// Env makes the go command complete the requirements of such a module, regardless of a
// go.work above it.
var Env = []string{"GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false"}

// Complete makes the module in dir require this module, from the working tree of the test.
// Without a go.mod it creates one, of example.com/importer.
func Complete(t testing.TB, dir string) {
	t.Helper()
	root, sums := tree(t)
	path := filepath.Join(dir, "go.mod")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		b = []byte("module example.com/importer\n\ngo 1.26.0\n")
	} else if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(path, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.AddRequire(module, "v0.0.0"), f.AddReplace(module, "", root, "")); err != nil {
		t.Fatal(err)
	}
	if b, err = f.Format(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, b, 0o600), os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// tree returns the directory of this module, above the test's working directory, and its
// go.sum.
func tree(t testing.TB) (root string, sums []byte) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if b, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil && bytes.HasPrefix(b, []byte("module "+module+"\n")) {
			break
		}
		if filepath.Dir(root) == root {
			t.Fatal("the test is not run in the working tree")
		}
		root = filepath.Dir(root)
	}
	if sums, err = os.ReadFile(filepath.Join(root, "go.sum")); err != nil {
		t.Fatal(err)
	}
	return root, sums
}
