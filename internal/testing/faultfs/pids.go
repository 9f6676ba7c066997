//go:build linux

package faultfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Pids is a cgroup that limits the number of threads, of either version.
type Pids struct{ dir string }

// PidsGroup creates a cgroup without a limit.
func PidsGroup(t testing.TB) *Pids {
	t.Helper()
	dir, _ := group(t, "pids")
	return &Pids{dir}
}

// group creates a cgroup of a controller, of version 1 if mounted.
func group(t testing.TB, controller string) (dir string, v2 bool) {
	t.Helper()
	root(t, "making a cgroup")
	name := fmt.Sprintf("scopeview-%d-%s", os.Getpid(), strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()))
	dir = filepath.Join("/sys/fs/cgroup", controller, name)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "cgroup.procs")); err != nil {
		for _, of := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			if b, err := os.ReadFile(filepath.Join(of, "cgroup.controllers")); err == nil && slices.Contains(strings.Fields(string(b)), controller) {
				_ = os.WriteFile(filepath.Join(of, "cgroup.subtree_control"), []byte("+"+controller), 0)
				dir, v2 = filepath.Join(of, name), true
			}
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("a cgroup can't be made: %v", err)
	}
	// Victims are gone by then, because their cleanup was registered later.
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("removing the cgroup: %v", err)
		}
	})
	return dir, v2
}

// Add moves a process into the group.
func (p *Pids) Add(t testing.TB, pid int) { p.write(t, "cgroup.procs", pid) }

// Limit sets the maximum number of threads. Existing threads stay.
func (p *Pids) Limit(t testing.TB, n int) { p.write(t, "pids.max", n) }

func (p *Pids) write(t testing.TB, name string, n int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), strconv.AppendInt(nil, int64(n), 10), 0); err != nil {
		t.Fatal(err)
	}
}
