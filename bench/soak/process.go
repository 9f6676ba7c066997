//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// process has the values of /proc for a process.
type process struct {
	rss, anon, shared int64 // resident bytes; anon and shared are parts of it
	mappings          int
}

func lookAt(pid int) (p process, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return p, err
	}
	fields := map[string]*int64{"VmRSS": &p.rss, "RssAnon": &p.anon, "RssShmem": &p.shared}
	for line := range strings.Lines(string(status)) {
		key, value, _ := strings.Cut(line, ":")
		into := fields[key]
		if into == nil {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return p, fmt.Errorf("/proc/%d/status: %s: %w", pid, key, err)
		}
		*into = kb << 10
	}
	if p.rss == 0 {
		return p, fmt.Errorf("/proc/%d/status has no VmRSS: the process is gone", pid)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return p, err
	}
	p.mappings = bytes.Count(maps, []byte("\n"))
	return p, nil
}
