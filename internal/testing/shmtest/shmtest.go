// Package shmtest gives the tests of a package a directory of shared memory of their
// own. In the one that all programs share, a recording of a test brings home what
// others have left there, and they what its victims left, at any moment.
package shmtest

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/sys"
)

// Variable tells processes of the same test binary where the directory is.
const Variable = "SCOPEVIEW_TEST_SHM"

const prefix = "scopeview-test-"

func init() { // before a test binary that plays a victim can begin to record
	if dir := os.Getenv(Variable); dir != "" {
		hot.Dir = dir
	}
}

// Run runs a package's tests for its TestMain, by m.Run, with a directory of their own
// where the system has shared memory. It is also that of the processes that they
// start from the test binary, and of the programs that they have the go command build.
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

// removeLeft removes the directories of test binaries that were killed.
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
