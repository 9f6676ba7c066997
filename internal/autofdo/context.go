package autofdo

import (
	"cmp"
	"strconv"
	"strings"
)

// frame is a function of a context, with the position of its call of the next one.
type frame struct {
	name string
	at   Loc
}

// isContext reports whether LLVM interprets a function's name as a context, a chain of calls as
// in "[main:3 @ f:1.2 @ g]".
func isContext(name string) bool { return strings.HasPrefix(name, "[") }

// parseContext parses a context in the form that LLVM writes, or with callers that have no line,
// which LLVM reads as line 0. LLVM misreads other forms, or crashes on them.
func parseContext(name string) ([]frame, bool) {
	inside, ok := strings.CutSuffix(strings.TrimPrefix(name, "["), "]")
	if !ok {
		return nil, false
	}
	parts := strings.Split(inside, " @ ")
	frames := make([]frame, len(parts))
	for i, part := range parts {
		function, position, called := strings.Cut(part, ":")
		if function == "" || called && i == len(parts)-1 {
			return nil, false
		}
		frames[i].name = function
		if position != "" && (!parseLoc(position, &frames[i].at) || frames[i].at.String() != position || frames[i].at.Offset > 1<<31-1) {
			return nil, false
		}
	}
	return frames, true
}

// contextName returns the canonical name of a context, as LLVM writes it.
func contextName(frames []frame) string {
	parts := make([]string, len(frames))
	for i, f := range frames {
		parts[i] = f.name
		if i < len(frames)-1 {
			parts[i] += ":" + f.at.String()
		}
	}
	return "[" + strings.Join(parts, " @ ") + "]"
}

// nameOf returns the frames by which a function's name is ordered: those of its context, or the
// name alone.
func nameOf(name string) []frame {
	if isContext(name) {
		if frames, ok := parseContext(name); ok {
			return frames
		}
	}
	return []frame{{name: name}}
}

func compareFrames(a, b frame) int {
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
