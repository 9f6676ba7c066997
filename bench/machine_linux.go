package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func describe(dir string) (cpu, kernel, fileSystem string) {
	cpu, kernel, fileSystem = "unknown CPU", "Linux", "an unknown file system"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				cpu = strings.TrimSpace(v)
				break
			}
		}
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel = "Linux " + unix.ByteSliceToString(u.Release[:])
	}
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) == nil {
		fileSystem = magic(int64(st.Type))
	}
	return cpu, kernel, fileSystem
}

func magic(m int64) string {
	switch m {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", m)
}

// usableCPUs returns the CPUs to which a thread of this process can be pinned.
func usableCPUs() (cpus []int) {
	var may unix.CPUSet
	if unix.SchedGetaffinity(0, &may) == nil {
		for cpu := range len(may) * 64 {
			if may.IsSet(cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	if len(cpus) == 0 {
		return []int{-1}
	}
	return cpus
}
