package sys

import (
	"os"
	"strconv"
	"strings"
)

// ReadOnly lists the address ranges that are mapped from the files of the
// program's code (its executable, plugins) and can't be written: their contents
// do not change while the process lives. Other files that are mapped read-only
// do not count, because the program may unmap them.
func ReadOnly() []Span {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil
	}
	code := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		if m := parseMap(line); m.perm == "r-xp" && m.file != "" {
			code[m.file] = true
		}
	}
	var spans []Span
	for line := range strings.Lines(string(b)) {
		if m := parseMap(line); code[m.file] && (m.perm == "r--p" || m.perm == "r-xp") {
			spans = append(spans, m.Span)
		}
	}
	return spans
}

type mapping struct {
	Span
	perm, file string
}

// parseMap reads a line of /proc/self/maps; file is "" for memory without one.
//
//	00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/x
func parseMap(line string) (m mapping) {
	f := strings.Fields(line)
	if len(f) < 6 || f[4] == "0" {
		return mapping{}
	}
	lo, hi, _ := strings.Cut(f[0], "-")
	from, err1 := strconv.ParseUint(lo, 16, 64)
	to, err2 := strconv.ParseUint(hi, 16, 64)
	if err1 != nil || err2 != nil {
		return mapping{}
	}
	return mapping{Span{uintptr(from), uintptr(to)}, f[1], f[5]}
}
