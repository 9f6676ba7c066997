package heartbeat

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/scopeview/scopeview/internal/format"
)

// limitReader reads the CPU and memory limits of the process's cgroup. The directories are
// looked up once; their files are read at every beat, because limits change while a program
// runs.
type limitReader struct {
	cpu, memory, pids hierarchy // pids: until the first beat
}

// hierarchy has the cgroup directories of one controller: the process's own cgroup first,
// then those above, because the strictest limit counts.
type hierarchy struct {
	v2   bool
	dirs []string
	err  error // why there are no dirs
}

func (r *limitReader) init(p procfs.Proc) {
	groups, err := p.Cgroups()
	var mounts []*procfs.MountInfo
	if err == nil {
		mounts, err = p.MountInfo()
	}
	if err != nil {
		r.cpu.err, r.memory.err = err, err
		return
	}
	r.cpu = findHierarchy("cpu", groups, mounts)
	r.memory = findHierarchy("memory", groups, mounts)
	r.pids = findHierarchy("pids", groups, mounts)
}

func (r *limitReader) read(b *beat) {
	r.cpu.report(b, "CPU limit", format.FieldCPULimit, readCPULimit)
	r.cpu.throttled(b)
	r.memory.report(b, "memory limit", format.FieldMemLimit, readMemoryLimit)
	b.left = r.memory.left()
	for _, dir := range r.pids.dirs {
		most, err := readNumber(dir, "pids.max")
		used, e := readNumber(dir, "pids.current")
		if err == nil && e == nil && most != noLimit {
			b.free = min(b.free, most-used)
		}
	}
	r.pids.dirs = nil
}

// findHierarchy finds a controller's directories. A controller is in a version 1 hierarchy
// or in the one of version 2; a machine may have both kinds.
func findHierarchy(controller string, groups []procfs.Cgroup, mounts []*procfs.MountInfo) hierarchy {
	var own string
	var v2, found bool
	for _, g := range groups {
		if slices.Contains(g.Controllers, controller) {
			own, v2, found = g.Path, false, true
			break
		}
		if g.HierarchyID == 0 && len(g.Controllers) == 0 {
			own, v2, found = g.Path, true, true
		}
	}
	if !found {
		return hierarchy{err: fmt.Errorf("the process is in no cgroup of controller %s", controller)}
	}
	for _, m := range mounts {
		if v2 && m.FSType != "cgroup2" {
			continue
		}
		if _, has := m.SuperOptions[controller]; !v2 && (m.FSType != "cgroup" || !has) {
			continue
		}
		if dirs := upwards(m, own); dirs != nil {
			return hierarchy{v2: v2, dirs: dirs}
		}
	}
	return hierarchy{err: fmt.Errorf("no mounted cgroup file system shows %s of controller %s", own, controller)}
}

// upwards lists the directories of cgroup own and of those above it, as far as mount m shows
// them, or nil if it does not show own. In a container the mount's root often is the
// container's cgroup.
func upwards(m *procfs.MountInfo, own string) []string {
	rel, ok := strings.CutPrefix(own, strings.TrimSuffix(m.Root, "/"))
	if !ok || rel != "" && rel[0] != '/' || strings.Contains(rel, "/..") {
		return nil
	}
	var dirs []string
	for rel = filepath.Clean("/" + rel); rel != "/"; rel = filepath.Dir(rel) {
		dirs = append(dirs, filepath.Join(m.MountPoint, rel))
	}
	return append(dirs, m.MountPoint)
}

// report adds the strictest limit to the beat. Without a limit, or if a file can't be
// parsed, the field stays absent.
func (h *hierarchy) report(b *beat, what string, f format.Field, read func(v2 bool, dir string) (int64, error)) {
	if h.err != nil {
		b.fail(what, h.err)
		return
	}
	least := int64(noLimit)
	for _, dir := range h.dirs {
		v, err := read(h.v2, dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the controller does not limit at this level
		}
		if err != nil {
			b.fail(what, err)
			return
		}
		least = min(least, v)
	}
	if least != noLimit {
		b.put(f, least)
	}
}

// throttled adds to the beat how long the CPU limit kept the process's threads off the CPUs.
// It takes the largest value of all levels, because a level waits inside the one above it.
func (h *hierarchy) throttled(b *beat) {
	most := int64(-1)
	for _, dir := range h.dirs {
		if h.v2 {
			most = max(most, 1000*stat(dir, "cpu.stat", "throttled_usec"))
		} else {
			most = max(most, stat(dir, "cpu.stat", "throttled_time"))
		}
	}
	if most >= 0 {
		b.put(format.FieldThrottled, most)
	}
}

// stat returns the number of a key in a file of a cgroup, or -1 if it can't be read. That
// error is not reported: either reading the limit reports it, or there is no limit.
func stat(dir, name, key string) int64 {
	b, _ := os.ReadFile(dir + "/" + name)
	return number(b, key)
}

// number returns the number after a key in a text with one key a line, or -1 if there is
// none.
func number(text []byte, key string) int64 {
	for line := range strings.Lines(string(text)) {
		if w := strings.Fields(line); len(w) > 1 && w[0] == key {
			if v, err := strconv.ParseInt(w[1], 10, 64); err == nil {
				return max(v, -1)
			}
		}
	}
	return -1
}

// left returns how many bytes may still be used, the least over all levels. The inactive
// pages of files and half of the active ones count as available, because the kernel
// reclaims them before it kills. Pages of a tmpfs, which it can't reclaim, do not.
func (h *hierarchy) left() int64 {
	least := int64(noLimit)
	for _, dir := range h.dirs {
		limit, err := readMemoryLimit(h.v2, dir)
		used, inactive, active := "memory.usage_in_bytes", "total_inactive_file", "total_active_file"
		if h.v2 {
			used, inactive, active = "memory.current", "inactive_file", "active_file"
			// Above memory.high the kernel throttles the program.
			if high, e := readNumber(dir, "memory.high"); e == nil {
				limit = min(limit, high)
			}
		}
		if err != nil || limit == noLimit {
			continue
		}
		n, err := readNumber(dir, used)
		if err != nil {
			continue
		}
		n -= max(stat(dir, "memory.stat", inactive), 0) + max(stat(dir, "memory.stat", active), 0)/2
		least = min(least, limit-n)
	}
	return least
}

// readCPULimit reads a limit in thousandths of a CPU.
func readCPULimit(v2 bool, dir string) (int64, error) {
	var quota, period string
	if v2 {
		words, err := readWords(dir, "cpu.max", 2)
		if err != nil {
			return 0, err
		}
		quota, period = words[0], words[1]
	} else {
		q, err := readWords(dir, "cpu.cfs_quota_us", 1)
		if err != nil {
			return 0, err
		}
		p, err := readWords(dir, "cpu.cfs_period_us", 1)
		if err != nil {
			return 0, err
		}
		quota, period = q[0], p[0]
	}
	if quota == "max" || quota == "-1" {
		return noLimit, nil
	}
	q, errQ := strconv.ParseInt(quota, 10, 64)
	p, errP := strconv.ParseInt(period, 10, 64)
	if errQ != nil || errP != nil || q < 0 || q > math.MaxInt64/1000 || p <= 0 {
		return 0, fmt.Errorf("%s: quota %q of period %q is not a limit", dir, quota, period)
	}
	return q * 1000 / p, nil
}

// readMemoryLimit reads a limit in bytes.
func readMemoryLimit(v2 bool, dir string) (int64, error) {
	if v2 {
		return readNumber(dir, "memory.max")
	}
	return readNumber(dir, "memory.limit_in_bytes")
}

// readNumber reads a number of bytes or of threads. Version 1 writes "no limit" as the
// largest number of whole pages.
func readNumber(dir, name string) (int64, error) {
	words, err := readWords(dir, name, 1)
	if err != nil {
		return 0, err
	}
	if words[0] == "max" {
		return noLimit, nil
	}
	v, err := strconv.ParseUint(words[0], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s/%s: %q is not a limit", dir, name, words[0])
	}
	if v >= 1<<62 {
		return noLimit, nil
	}
	return int64(v), nil
}

func readWords(dir, name string, want int) ([]string, error) {
	p := filepath.Join(dir, name)
	b, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(b))
	if len(words) != want {
		return nil, fmt.Errorf("%s: %q has %d words, not %d", p, b, len(words), want)
	}
	return words, nil
}
