// Package shmtest gives the tests of a package a shared memory directory of their own. In
// the common one, a recording of a test would recover what other programs have left there,
// and they what its victims left, at any time.
package shmtest

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/sys"
)

// Variable has the directory for processes of the same test binary.
const Variable = "SCOPEVIEW_TEST_SHM"

const prefix = "scopeview-test-"

func init() { // before a test binary that acts as a victim can start recording
	if dir := os.Getenv(Variable); dir != "" {
		hot.Dir = dir
	}
}

// Run runs a package's tests for its TestMain, by m.Run, with a directory of their own where
// the system has shared memory. Processes started from the test binary, and programs that
// they build with the go command, use it too.
func Run(run func() int) int {
	if os.Getenv(Variable) != "" {
		return run() // started by a test that has one
	}
	removeLeft()
	dir, err := os.MkdirTemp(hot.Dir, prefix)
	if err != nil {
		return run()
	}
	defer os.RemoveAll(dir)
	if d, err := os.Open(dir); err == nil {
		defer d.Close()
		sys.TryLock(d) // until this process ends
	}
	_ = os.Chmod(dir, 0o777|os.ModeSticky) // as /dev/shm is: some tests are other users
	hot.Dir = dir
	os.Setenv(Variable, dir)
	os.Setenv("GOFLAGS", strings.TrimSpace(os.Getenv("GOFLAGS")+" -ldflags=-X=github.com/scopeview/scopeview/internal/hot.Dir="+dir))
	return run()
}

// removeLeft removes the directories of killed test binaries.
func removeLeft() {
	left, _ := filepath.Glob(filepath.Join(hot.Dir, prefix+"*"))
	for _, dir := range left {
		d, err := os.Open(dir)
		if err != nil {
			continue
		}
		if st, err := d.Stat(); err == nil && time.Since(st.ModTime()) > time.Minute && sys.TryLock(d) {
			os.RemoveAll(dir)
		}
		d.Close()
	}
}
