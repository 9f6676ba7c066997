package shmtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

// TestRun has a directory of its own while the tests run, and none afterwards. Processes
// that are started meanwhile have the same.
func TestRun(t *testing.T) {
	if os.Getenv(shmtest.Variable) != "" {
		t.Logf("the directory is %s", hot.Dir)
		return
	}
	shared := t.TempDir()
	t.Setenv("GOFLAGS", "-p=2")
	t.Setenv(shmtest.Variable, "") // so that it is as it was afterwards
	defer func(was string) { hot.Dir = was }(hot.Dir)
	hot.Dir = shared
	code := shmtest.Run(func() int {
		dir := hot.Dir
		if filepath.Dir(dir) != shared || os.Getenv(shmtest.Variable) != dir || !strings.HasSuffix(os.Getenv("GOFLAGS"), "-p=2 -ldflags=-X=github.com/scopeview/scopeview/internal/hot.Dir="+dir) {
			t.Errorf("the directory is %s, the variable %q, GOFLAGS %q", dir, os.Getenv(shmtest.Variable), os.Getenv("GOFLAGS"))
		}
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o777 || st.Mode()&os.ModeSticky == 0 {
			t.Errorf("%v, %v", st, err)
		}
		out, err := exec.Command(os.Args[0], "-test.run=^TestRun$", "-test.v").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "the directory is "+dir) {
			t.Errorf("a process that was started: %v\n%s", err, out)
		}
		if n := shmtest.Run(func() int { return 7 }); n != 7 || hot.Dir != dir {
			t.Errorf("one that runs in it returns %d and has %s", n, hot.Dir)
		}
		return 3
	})
	if left, _ := os.ReadDir(shared); code != 3 || len(left) != 0 {
		t.Errorf("Run returns %d and leaves %v", code, left)
	}
}

// TestWhatWasLeft removes directories of tests that were killed, and no others: not those
// that are in use, nor those that may just be being made.
func TestWhatWasLeft(t *testing.T) {
	defer func(was string) { hot.Dir = was }(hot.Dir)
	shared := t.TempDir()
	hot.Dir = shared
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"dead", "used", "new"} {
		dir := filepath.Join(shared, "scopeview-test-"+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, filepath.Join(dir, "file"), nil)
		if name != "new" {
			if err := os.Chtimes(dir, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := filetest.Open(t, filepath.Join(shared, "scopeview-test-used"))
	if !sys.TryLock(d) {
		t.Skip("directories can't be locked here")
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv(shmtest.Variable, "")
	if code := shmtest.Run(func() int { return 0 }); code != 0 {
		t.Error(code)
	}
	left, err := filepath.Glob(filepath.Join(shared, "*"))
	if want := filepath.Join(shared, "scopeview-test-new") + " " + filepath.Join(shared, "scopeview-test-used"); err != nil || strings.Join(left, " ") != want {
		t.Errorf("left are %v, want %s: %v", left, want, err)
	}
}
