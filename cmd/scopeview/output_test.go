package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestOutputReplacesWhenComplete(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	o := output{path: path}
	full := errors.New("no space left")
	if err := o.write(nil, func(w io.Writer) error { io.WriteString(w, "half"); return full }); !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	files(t, dir)
	write := func(text string) error {
		return o.write(nil, func(w io.Writer) error {
			if b, err := os.ReadFile(path); err == nil && string(b) == text {
				t.Errorf("%q is there before it is complete", b)
			}
			_, err := io.WriteString(w, text)
			return err
		})
	}
	for _, text := range []string{"one", "two"} {
		if err := write(text); err != nil {
			t.Fatal(err)
		}
		if b, _ := os.ReadFile(path); string(b) != text {
			t.Errorf("%q, want %q", b, text)
		}
	}
	if err := o.write(nil, func(w io.Writer) error { return full }); err == nil {
		t.Error("no error")
	}
	if b, _ := os.ReadFile(path); string(b) != "two" {
		t.Errorf("a failed run left %q", b)
	}
	files(t, dir, "out.csv")
}

func TestOutputIntoSymlinkAndDevice(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	filetest.Write(t, target, nil)
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	hello := func(w io.Writer) error { _, err := io.WriteString(w, "hello"); return err }
	if err := (&output{path: link}).write(nil, hello); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(target); string(b) != "hello" {
		t.Errorf("the target holds %q", b)
	}
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if err := (&output{path: os.DevNull}).write(nil, hello); err != nil {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	files(t, dir, "link", "target")
}

func TestOutputWhereNoFileCanBe(t *testing.T) {
	err := (&output{path: filepath.Join(t.TempDir(), "no", "dir", "x")}).write(nil, func(io.Writer) error { return nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// files checks the names in a directory.
func files(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if len(got) != len(want) {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
