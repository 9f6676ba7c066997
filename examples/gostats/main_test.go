package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestTreeOfKnownContent(t *testing.T) {
	files, err := goFiles("testdata/tree", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3, 8} {
		s := pass(files, workers, 8)
		if s.files != 2 || s.broken != 0 || s.err != nil {
			t.Errorf("%d workers: %d files, %d broken, error %v, want 2 good ones", workers, s.files, s.broken, s.err)
		}
		want := map[string]int{"func": 2, "method": 2, "type": 3, "const": 2, "var": 3, "import": 3}
		if !maps.Equal(s.kinds, want) {
			t.Errorf("%d workers: declarations are %v, want %v", workers, s.kinds, want)
		}
		if n := s.idents["float64"]; n != 6 {
			t.Errorf("%d workers: float64 is used %d times, want 6", workers, n)
		}
		sum := s.total()
		if bytes := fileSize(t, files[0]) + fileSize(t, files[1]); sum.bytes != bytes || sum.packed == 0 || sum.packed >= bytes {
			t.Errorf("%d workers: sizes are %+v, want %d bytes and less when packed", workers, sum, bytes)
		}
		if len(s.largest) != 2 || s.largest[0] != filepath.Join("testdata", "tree", "shapes") {
			t.Errorf("%d workers: the largest packages are %v, want shapes first of two", workers, s.largest)
		}
	}
}

func fileSize(t *testing.T, path string) int {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(st.Size())
}

func TestFileThatIsNoGo(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "x.go"), []byte("package"))
	var out, errs bytes.Buffer
	if code := run([]string{"-dir", dir}, &out, &errs); code != 0 {
		t.Errorf("exit code %d, want 0; %s", code, &errs)
	}
	if want := "1 files, 1 of them not correct Go"; !strings.Contains(out.String(), want) {
		t.Errorf("the summary lacks %q:\n%s", want, &out)
	}
}

func TestUnreadableFileIsAnError(t *testing.T) {
	s := pass([]string{filepath.Join(t.TempDir(), "gone.go"), "testdata/tree/main.go"}, 2, 8)
	if s.err == nil || s.files != 1 {
		t.Errorf("error %v after %d files, want an error and the other file counted", s.err, s.files)
	}
}

func TestLimitAndRepeat(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"-dir", "testdata/tree", "-limit-files", "1", "-repeat", "3"}, &out, &errs); code != 0 {
		t.Fatalf("exit code %d, want 0; %s", code, &errs)
	}
	if want := "1 files, 0 of them not correct Go"; !strings.Contains(out.String(), want) {
		t.Errorf("the summary lacks %q:\n%s", want, &out)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-h", 0, "-workers"},
		{"-workers 0", 2, "-workers, -repeat and -merge-every must be at least 1"},
		{"more", 2, `unexpected argument "more"`},
		{"-dir testdata/nothing", 1, "the files can't be listed"},
		{"-dir testdata/tree/shapes/notes.txt", 1, "no Go file below"},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(c.args), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("gostats %s: exit code %d, %q; want %d and %q", c.args, code, &errs, c.code, c.says)
		}
	}
}
