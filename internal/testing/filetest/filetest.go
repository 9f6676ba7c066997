// Package filetest opens, reads and writes the files of tests: a test that can't do that fails.
package filetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Open opens the file at path until the test ends.
func Open(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Read returns the contents of the file at path.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Write writes a file for the user alone to path, or replaces the contents of the one there. It
// makes the directories that are missing.
func Write(t testing.TB, path string, contents []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, contents, 0o600); err != nil {
		t.Fatal(err)
	}
}
