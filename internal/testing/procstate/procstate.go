//go:build linux

// Package procstate reads the system state that a process has set up, as visible from
// outside: to another program, to a child, or to the same program later.
package procstate

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// State has the state by name. Multiple values are sorted, one per line.
type State map[string]string

// Of reads the state of a process from /proc.
func Of(pid int) (State, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	s := State{}
	for _, name := range []string{"limits", "oom_score_adj", "coredump_filter", "personality", "timers"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		s[name] = string(b)
	}
	s["timers"] = fmt.Sprint(strings.Count(s["timers"], "ID:"))
	for _, name := range []string{"cwd", "root"} {
		s[name], _ = os.Readlink(filepath.Join(dir, name))
	}
	if err := s.threads(dir); err != nil {
		return nil, err
	}
	if err := s.descriptors(dir); err != nil {
		return nil, err
	}
	return s, s.memory(dir, pid)
}

// Self adds the state that only the process itself can read.
func Self() (State, error) {
	s, err := Of(os.Getpid())
	if err != nil {
		return nil, err
	}
	for name, which := range map[string]unix.ItimerWhich{"ITIMER_REAL": unix.ITIMER_REAL, "ITIMER_VIRTUAL": unix.ITIMER_VIRTUAL, "ITIMER_PROF": unix.ITIMER_PROF} {
		it, err := unix.Getitimer(which)
		if err != nil {
			return nil, err
		}
		s[name] = fmt.Sprint(it.Interval, it.Value != unix.Timeval{})
	}
	environ := slices.Sorted(slices.Values(os.Environ()))
	s["environment"] = strings.Join(environ, "\n")
	return s, nil
}

// volatile are the lines of /proc/PID/status that change by themselves or depend on other
// lines.
var volatile = []string{"Name", "State", "Tgid", "Ngid", "Pid", "PPid", "TracerPid", "NStgid", "NSpid", "NSpgid", "NSsid", "Kthread", "FDSize",
	"Threads", "SigQ", "SigPnd", "HugetlbPages", "voluntary_ctxt_switches", "nonvoluntary_ctxt_switches", "Mems_allowed", "Mems_allowed_list"}

// making is the prefix of the signal mask of a thread while Go creates it, or while it
// creates another: all signals are blocked.
const making = "fffffff"

// threads reads the per-thread state: all its distinct values.
func (s State) threads(dir string) error {
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*"))
	if err != nil || len(tasks) == 0 {
		return fmt.Errorf("no threads of %s: %w", dir, err)
	}
	kinds := map[string]map[string]bool{}
	add := func(key, value string) {
		if kinds[key] == nil {
			kinds[key] = map[string]bool{}
		}
		kinds[key][strings.TrimSpace(value)] = true
	}
	for _, t := range tasks {
		b, err := os.ReadFile(filepath.Join(t, "status"))
		if err != nil {
			continue // it has ended
		}
		for line := range strings.Lines(string(b)) {
			key, value, _ := strings.Cut(line, ":")
			if !slices.Contains(volatile, key) && (!strings.HasPrefix(key, "Vm") || key == "VmLck" || key == "VmPin") && !strings.HasPrefix(key, "Rss") {
				add(key, value)
			}
		}
		for _, name := range []string{"comm", "timerslack_ns", "children"} {
			if b, err := os.ReadFile(filepath.Join(t, name)); err == nil {
				add(name, string(b))
			}
		}
		if b, err := os.ReadFile(filepath.Join(t, "stat")); err == nil {
			if f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:])); len(f) > 38 {
				add("nice", f[16])
				add("policy", f[38])
			}
		}
	}
	maps.DeleteFunc(kinds["SigBlk"], func(mask string, _ bool) bool { return strings.HasPrefix(mask, making) })
	for key, values := range kinds {
		list := []string{}
		for v := range values {
			list = append(list, v)
		}
		slices.Sort(list)
		s[key] = strings.Join(list, "\n")
	}
	return nil
}

// descriptors reads the open descriptors, and those that another program would inherit.
func (s State) descriptors(dir string) error {
	list, err := os.ReadDir(filepath.Join(dir, "fd"))
	if err != nil {
		return err
	}
	var open, kept []string
	for _, e := range list {
		to, err := os.Readlink(filepath.Join(dir, "fd", e.Name()))
		if err != nil || strings.HasPrefix(to, "/proc/") && strings.HasSuffix(to, "/fd") {
			continue // the descriptor used for reading them
		}
		if kind, _, ok := strings.Cut(to, ":["); ok && kind != "anon_inode" {
			to = kind // pipes and sockets have numbers
		}
		open = append(open, to)
		info, _ := os.ReadFile(filepath.Join(dir, "fdinfo", e.Name()))
		for line := range strings.Lines(string(info)) {
			if f := strings.Fields(line); len(f) == 2 && f[0] == "flags:" {
				if n, err := strconv.ParseUint(f[1], 8, 64); err == nil && n&unix.O_CLOEXEC == 0 {
					kept = append(kept, e.Name()+" "+to)
				}
			}
		}
	}
	slices.Sort(open)
	slices.Sort(kept)
	s["descriptors"], s["kept descriptors"] = strings.Join(open, "\n"), strings.Join(kept, "\n")
	return nil
}

// memory reads which files are mapped, and which file locks the process has.
func (s State) memory(dir string, pid int) error {
	b, err := os.ReadFile(filepath.Join(dir, "maps"))
	if err != nil {
		return err
	}
	files := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if f := strings.SplitN(line, " ", 6); len(f) == 6 {
			if name := strings.TrimSpace(f[5]); name != "" && !strings.HasPrefix(name, "[") {
				files[name] = true
			}
		}
	}
	list := []string{}
	for name := range files {
		list = append(list, name)
	}
	slices.Sort(list)
	s["mapped files"] = strings.Join(list, "\n")
	locks, err := os.ReadFile("/proc/locks")
	n := 0
	for line := range strings.Lines(string(locks)) {
		if f := strings.Fields(line); len(f) > 4 && slices.Contains(f[1:6], strconv.Itoa(pid)) {
			n++
		}
	}
	s["file locks"] = strconv.Itoa(n)
	return err
}

// More returns the lines of a state that occur less often in another state.
func (s State) More(name string, than State) (list []string) {
	had := map[string]int{}
	for line := range strings.SplitSeq(than[name], "\n") {
		had[line]++
	}
	for line := range strings.SplitSeq(s[name], "\n") {
		if had[line]--; had[line] < 0 {
			list = append(list, line)
		}
	}
	return list
}

// Differs returns the differences from another state, one line per name, sorted.
func (s State) Differs(from State) (list []string) {
	names := map[string]bool{}
	for name := range s {
		names[name] = true
	}
	for name := range from {
		names[name] = true
	}
	for name := range names {
		if s[name] != from[name] {
			list = append(list, fmt.Sprintf("%s: %q, not %q", name, s[name], from[name]))
		}
	}
	slices.Sort(list)
	return list
}
