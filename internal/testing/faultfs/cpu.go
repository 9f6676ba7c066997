//go:build linux

package faultfs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// CPU is a cgroup that limits CPU time (cpu) or the available CPUs (cpuset), of either
// version.
type CPU struct {
	dir string
	v2  bool
}

// CPUGroup creates a cgroup without a limit.
func CPUGroup(t testing.TB, controller string) *CPU {
	t.Helper()
	dir, v2 := group(t, controller)
	c := &CPU{dir, v2}
	if !c.v2 && controller == "cpuset" { // initially it has none of its own
		for _, file := range []string{"cpuset.mems", "cpuset.cpus"} {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(c.dir), file))
			if err != nil {
				t.Fatal(err)
			}
			c.write(t, file, strings.TrimSpace(string(b)))
		}
	}
	return c
}

// Add puts a process into the group.
func (c *CPU) Add(t testing.TB, pid int) {
	t.Helper()
	c.write(t, "cgroup.procs", strconv.Itoa(pid))
}

// Quota limits the group to thousandths of a CPU's time.
func (c *CPU) Quota(t testing.TB, thousandths int) {
	t.Helper()
	if us := strconv.Itoa(100 * thousandths); c.v2 {
		c.write(t, "cpu.max", us+" 100000")
	} else {
		c.write(t, "cpu.cfs_period_us", "100000")
		c.write(t, "cpu.cfs_quota_us", us)
	}
}

// CPUs limits the group to the listed CPUs.
func (c *CPU) CPUs(t testing.TB, list string) {
	t.Helper()
	c.write(t, "cpuset.cpus", list)
}

func (c *CPU) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}
