package autofdo

import (
	"cmp"
	"strconv"
	"strings"
)

// call is a function of a chain of calls, with the position of its call of the next one; the last
// one's position is that of a line, or is not used.
type call struct {
	name string
	at   Loc
}

// isContext reports whether LLVM interprets a function's name as a context, a chain of calls as
// in "[main:3 @ f:1.2 @ g]".
func isContext(name string) bool { return strings.HasPrefix(name, "[") }

// parseContext parses a context in the form that LLVM writes, or with callers that have no line,
// which LLVM reads as line 0. LLVM misreads other forms, or crashes on them.
func parseContext(name string) ([]call, bool) {
	inside, ok := strings.CutSuffix(strings.TrimPrefix(name, "["), "]")
	if !ok {
		return nil, false
	}
	parts := strings.Split(inside, " @ ")
	calls := make([]call, len(parts))
	for i, part := range parts {
		function, position, called := strings.Cut(part, ":")
		if function == "" || called && i == len(parts)-1 {
			return nil, false
		}
		calls[i].name = function
		if position != "" && (!parseLoc(position, &calls[i].at) || calls[i].at.String() != position || calls[i].at.Offset > 1<<31-1) {
			return nil, false
		}
	}
	return calls, true
}

// contextName returns the canonical name of a context, as LLVM writes it.
func contextName(calls []call) string {
	parts := make([]string, len(calls))
	for i, c := range calls {
		parts[i] = c.name
		if i < len(calls)-1 {
			parts[i] += ":" + c.at.String()
		}
	}
	return "[" + strings.Join(parts, " @ ") + "]"
}

// nameOf returns the calls by which a function's name is ordered: those of its context, or the
// name alone.
func nameOf(name string) []call {
	if isContext(name) {
		if calls, ok := parseContext(name); ok {
			return calls
		}
	}
	return []call{{name: name}}
}

func compareCalls(a, b call) int {
	return cmp.Or(cmp.Compare(a.name, b.name), compareLocs(a.at, b.at))
}

// parseLoc parses NUM[.NUM]. Like LLVM, it does not check the size of an offset that has a
// discriminator.
func parseLoc(s string, at *Loc) bool {
	offset, disc, has := strings.Cut(s, ".")
	n, ok := number(offset, 32)
	m, ok2 := uint64(0), true
	if has {
		m, ok2 = number(disc, 32)
	}
	*at = Loc{uint32(n), uint32(m)}
	return ok && ok2 && (has || n <= maxOffset)
}

// String formats a position as LLVM does. An offset beyond maxOffset always gets a discriminator,
// because LLVM reads it back only then.
func (l Loc) String() string {
	s := strconv.FormatUint(uint64(l.Offset), 10)
	if l.Disc != 0 || l.Offset > maxOffset {
		s += "." + strconv.FormatUint(uint64(l.Disc), 10)
	}
	return s
}

// number parses a decimal number of size bits: digits and nothing else.
func number(s string, size int) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, size)
	return n, err == nil
}
