//go:build linux

package faultfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Pids is a cgroup that limits threads, of either version.
type Pids struct{ dir string }

// PidsGroup makes one without a limit.
func PidsGroup(t testing.TB) *Pids {
	t.Helper()
	root(t, "making a cgroup")
	name := fmt.Sprintf("scopeview-%d-%s", os.Getpid(), strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()))
	p := &Pids{filepath.Join("/sys/fs/cgroup/pids", name)}
	if _, err := os.Stat("/sys/fs/cgroup/pids/cgroup.procs"); err != nil {
		p.dir = filepath.Join("/sys/fs/cgroup", name)
	}
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Skipf("a cgroup can't be made: %v", err)
	}
	// Victims are gone by then: their cleanup was registered later.
	t.Cleanup(func() {
		if err := os.Remove(p.dir); err != nil {
			t.Errorf("removing the cgroup: %v", err)
		}
	})
	if _, err := os.Stat(filepath.Join(p.dir, "pids.max")); err != nil {
		t.Skipf("there are no cgroups that limit threads: %v", err)
	}
	return p
}

// Add puts a process into the group.
func (p *Pids) Add(t testing.TB, pid int) { p.write(t, "cgroup.procs", pid) }

// Limit is how many threads there may be from now on. Those that there are stay.
func (p *Pids) Limit(t testing.TB, n int) { p.write(t, "pids.max", n) }

// Used is how many threads there are.
func (p *Pids) Used(t testing.TB) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(p.dir, "pids.current"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (p *Pids) write(t testing.TB, name string, n int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), strconv.AppendInt(nil, int64(n), 10), 0); err != nil {
		t.Fatal(err)
	}
}
