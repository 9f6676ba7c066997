package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// promises are the guarantees by number, as in docs/guarantees.md.
var promises = [...]string{
	1:  "a full disk at the start is an error, and no space is held",
	2:  "a disk that becomes full neither kills nor blocks",
	3:  "recording resumes when there is room, and records the gap",
	4:  "I/O errors are like a full disk",
	5:  "truncating or replacing the file is survived",
	6:  "removing the file is survived",
	7:  "no page faults while recording",
	8:  "a frozen file system does not freeze the program",
	9:  "a slow disk does not stall",
	10: "memory is bounded",
	11: "disk space is bounded",
	12: "never exits, prints, panics or installs signal handlers",
	13: "Start and Stop are safe under traffic",
	14: "child processes inherit nothing",
	15: "SIGKILL loses nothing that had ended",
	16: "a writer killed at any step hides only its own record",
	17: "every loss is counted, by reason",
	18: "after a power loss a trace opens and says what is missing",
	19: "readable while it is written",
	20: "order: rows are in order, clocks never run backwards",
	21: "other versions are read, skipped with a count, or refused",
	22: "a trace reads the same on every machine",
	23: "the reader never panics, hangs or exhausts memory",
	24: "wrong counts and lengths are errors",
	25: "a trace that shrinks while it is read is an error",
	26: "names are never script",
	27: "names are never formulas nor escape sequences",
	28: "the live servers answer only authorized requests",
	29: "files are private, and other users' links are not followed",
	30: "processes with the same number do not mix",
	31: "no stale bytes",
	32: "remote file systems are detected",
	33: "a seccomp filter installed after the start is survived",
	34: "losses are known after a kill",
	35: "nothing is orphaned in shared memory",
	36: "a lost record costs no more than a recorded one",
	37: "limits of data, locked memory and containers are kept",
	38: "synctest and fork",
	39: "nothing stays armed in a program that replaces this one",
	40: "a deadlock is still detected",
	41: "Go's tracer follows no wrong frame pointer",
	42: "a program works under its limits with a recording as without",
	43: "a ring keeps recording while its disk pauses",
	44: "containers that share /dev/shm keep each other's newest second",
	45: "a server keeps running, and reports missing data",
	46: "the budget holds for the sum",
	47: "memory that the system refuses is an error or costs records",
}

// maxLines is the maximum number of lines printed of a failed test's output.
const maxLines = 30

// write writes a line for each guarantee, with its numbers, and then other failures. It
// reports whether nothing failed.
func (r *run) write(w io.Writer) (ok bool) {
	all := r.verdicts()
	count := map[string]int{}
	ok = true
	for n := 1; n < len(promises); n++ {
		if promises[n] == "" {
			continue
		}
		v := all[n]
		if v == nil {
			v = &verdict{}
		}
		status, lines := v.lines()
		count[status]++
		ok = ok && status != "FAIL"
		fmt.Fprintf(w, "G%-3d %-9s  %s\n", n, status, promises[n])
		for _, line := range lines {
			fmt.Fprintf(w, "%16s%s\n", "", line)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.failed)) {
		if !r.blamed(pkg) {
			r.broken = append(r.broken, r.said[pkg]...)
		}
	}
	for _, line := range r.broken {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "%d PASS, %d FAIL, %d NOT GIVEN\n", count["PASS"], count["FAIL"], count["NOT GIVEN"])
	return ok && len(r.failed) == 0 && len(r.broken) == 0
}

// blamed reports whether a test of a guarantee explains the failure of a package.
func (r *run) blamed(pkg string) bool {
	return slices.ContainsFunc(r.order, func(t *test) bool {
		return t.pkg == pkg && t.number() > 0 && (t.action == "fail" || t.action == "run")
	})
}

// lines returns the guarantee's status and its details. A guarantee without numbers is not
// given, whatever the outcome of its tests: the tests may have checked nothing.
func (v *verdict) lines() (status string, lines []string) {
	lines = slices.Clone(v.given)
	for _, line := range v.not {
		lines = append(lines, "not given: "+line)
	}
	for _, t := range v.skipped {
		lines = append(lines, fmt.Sprintf("SKIP(%s) %s", t.why(), t.name))
	}
	switch {
	case len(v.failed) > 0:
		for _, t := range v.failed {
			lines = append(lines, t.name+" failed")
			for _, line := range t.said() {
				lines = append(lines, "  "+line)
			}
		}
		return "FAIL", lines
	case len(v.passed) > 0 && len(v.given) > 0:
		return "PASS", lines
	case len(v.passed) == 0 && len(v.skipped) == 0:
		lines = append(lines, "there is no test")
	case len(v.passed) > 0 && len(v.not) == 0 && len(v.skipped) == 0:
		lines = append(lines, "its tests pass and log no numbers")
	}
	return "NOT GIVEN", lines
}

// said returns the output of a failed test without its numbers.
func (t *test) said() (lines []string) {
	for _, line := range t.output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "--- ") || numbers.MatchString(line) {
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], "…")
	}
	return lines
}
