//go:build linux

package faultfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Memory is a memory cgroup, of either version.
type Memory struct {
	dir string
	v2  bool
}

// MemoryGroup creates a cgroup limited to limit bytes; above it, the kernel reclaims pages
// or kills.
func MemoryGroup(t testing.TB, limit int64) *Memory {
	t.Helper()
	root(t, "making a memory cgroup")
	m := &Memory{}
	name := fmt.Sprintf("scopeview-%d-%s", os.Getpid(), strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()))
	if _, err := os.Stat("/sys/fs/cgroup/memory/memory.usage_in_bytes"); err == nil {
		m.dir = filepath.Join("/sys/fs/cgroup/memory", name)
	} else if b, err := os.ReadFile("/sys/fs/cgroup/cgroup.subtree_control"); err == nil && strings.Contains(string(b), "memory") {
		m.dir, m.v2 = filepath.Join("/sys/fs/cgroup", name), true
	} else {
		t.Skip("there are no memory cgroups")
	}
	if err := os.Mkdir(m.dir, 0o755); err != nil {
		t.Skipf("a memory cgroup can't be made: %v", err)
	}
	// Victims are gone by then, because their cleanup was registered later.
	t.Cleanup(func() {
		if err := os.Remove(m.dir); err != nil {
			t.Errorf("removing the memory cgroup: %v", err)
		}
	})
	if err := os.WriteFile(m.file("memory.limit_in_bytes", "memory.max"), strconv.AppendInt(nil, limit, 10), 0); err != nil {
		t.Skipf("a memory cgroup can't be limited: %v", err)
	}
	return m
}

// Limit changes the limit.
func (m *Memory) Limit(t testing.TB, limit int64) {
	t.Helper()
	if err := os.WriteFile(m.file("memory.limit_in_bytes", "memory.max"), strconv.AppendInt(nil, limit, 10), 0); err != nil {
		t.Fatal(err)
	}
}

// Add moves a process into the group. Its existing memory stays charged to the previous
// group.
func (m *Memory) Add(t testing.TB, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10), 0); err != nil {
		t.Fatal(err)
	}
}

// Usage returns the memory charged to the group, Peak the maximum so far, and Kills the
// number of its processes that the kernel killed for lack of memory.
func (m *Memory) Usage(t testing.TB) int64 {
	t.Helper()
	return m.number(t, "memory.usage_in_bytes", "memory.current")
}

// Peak is documented at Usage.
func (m *Memory) Peak(t testing.TB) int64 {
	t.Helper()
	return m.number(t, "memory.max_usage_in_bytes", "memory.peak")
}

// Kills is documented at Usage.
func (m *Memory) Kills(t testing.TB) int64 {
	t.Helper()
	return m.field(t, "memory.oom_control", "memory.events", "oom_kill")
}

// Cache returns the part of Usage that is page cache.
func (m *Memory) Cache(t testing.TB) int64 {
	t.Helper()
	if m.v2 {
		return m.field(t, "", "memory.stat", "file")
	}
	return m.field(t, "memory.stat", "", "cache")
}

func (m *Memory) file(v1, v2 string) string {
	if m.v2 {
		return filepath.Join(m.dir, v2)
	}
	return filepath.Join(m.dir, v1)
}

func (m *Memory) number(t testing.TB, v1, v2 string) int64 {
	t.Helper()
	b, err := os.ReadFile(m.file(v1, v2))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (m *Memory) field(t testing.TB, v1, v2, name string) int64 {
	t.Helper()
	b, err := os.ReadFile(m.file(v1, v2))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, err := strconv.ParseInt(f[1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal(errors.New(m.file(v1, v2) + " has no " + name))
	return 0
}
