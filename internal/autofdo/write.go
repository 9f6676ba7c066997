package autofdo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// ErrName reports that the format can't hold a function's name: Clang would read another one.
var ErrName = errors.New("the text format can't hold a function's name: Clang would misread it")

// Write writes a profile as llvm-profdata merge --sample --text does. The error wraps ErrName
// if Clang would read it differently.
func Write(w io.Writer, p *Profile) error {
	b := bufio.NewWriterSize(w, 64<<10)
	out := writer{w: b, probes: p.probes()}
	contexts := p.contexts()
	for _, f := range p.Sorted() {
		if isContext(f.Name) != contexts {
			return fmt.Errorf("%w: the profile has functions with contexts ([main:3 @ f]) and without; %q has none", ErrKinds, f.Name)
		}
		line, ok := headLine(f)
		if err := out.line(line, f.Name, ok); err != nil {
			return err
		}
		if err := out.function(f, 1); err != nil {
			return err
		}
	}
	return b.Flush()
}

// probes reports whether the profile is one of pseudo probes, whose functions have checksums.
func (p *Profile) probes() bool {
	for _, f := range p.Functions {
		if f.Checksum != 0 {
			return true
		}
	}
	return false
}

// contexts reports whether the functions have contexts.
func (p *Profile) contexts() bool {
	for name := range p.Functions {
		if isContext(name) {
			return true
		}
	}
	return false
}

type writer struct {
	w      *bufio.Writer
	probes bool
}

// line writes a line of a function; ok states that the line reads back as the same.
func (w *writer) line(line, name string, ok bool) error {
	if !ok {
		return fmt.Errorf("function %q: %w: %s", name, ErrName, found(line))
	}
	w.w.WriteString(line)
	return w.w.WriteByte('\n')
}

// function writes the lines of a function, indented by depth blanks.
func (w *writer) function(f *Function, depth int) error {
	for _, at := range f.SortedLines() {
		line, ok := bodyLine(depth, at, f.Lines[at])
		if err := w.line(line, f.Name, ok); err != nil {
			return err
		}
	}
	locs, callees := f.SortedInlined()
	for i, callee := range callees {
		line, ok := inlineLine(depth, locs[i], callee)
		if err := w.line(line, callee.Name, ok); err != nil {
			return err
		}
		if err := w.function(callee, depth+1); err != nil {
			return err
		}
	}
	return w.metadata(f, strings.Repeat(" ", depth))
}

// headLine returns the first line of a function, and reports whether it reads back as the
// same.
func headLine(f *Function) (line string, ok bool) {
	line = f.Name + ":" + strconv.FormatUint(f.Total, 10) + ":" + strconv.FormatUint(f.Head, 10)
	name, total, head, whole, ok := parseHead(line)
	if isContext(name) {
		calls, fits := parseContext(name)
		ok = ok && fits && contextName(calls) == name
	}
	return line, ok && whole && name == f.Name && total == f.Total && head == f.Head && line[0] != '#' && isLine(line)
}

// bodyLine returns the line of a position, and reports whether it reads back as the same.
func bodyLine(depth int, at Loc, l *Line) (line string, ok bool) {
	b := append(start(depth, at), strconv.FormatUint(l.Samples, 10)...)
	targets := make([]target, 0, len(l.Targets))
	for _, callee := range l.SortedTargets() {
		targets = append(targets, target{callee, l.Targets[callee]})
		b = append(append(append(b, ' '), callee...), ':')
		b = strconv.AppendUint(b, l.Targets[callee], 10)
	}
	line = string(b)
	e, ok := parseLine(line)
	return line, ok && e.kind == body && e.depth == depth && e.at == at && e.samples == l.Samples && slices.Equal(e.targets, targets) && isLine(line)
}

// inlineLine returns the first line of an inlined function, and reports whether it reads back
// as the same.
func inlineLine(depth int, at Loc, callee *Function) (line string, ok bool) {
	line = string(start(depth, at)) + callee.Name + ":" + strconv.FormatUint(callee.Total, 10)
	e, ok := parseLine(line)
	return line, ok && e.kind == inlinee && e.depth == depth && e.at == at && e.name == callee.Name && e.samples == callee.Total && isLine(line)
}

// start returns the beginning of the line of a position.
func start(depth int, at Loc) []byte {
	return []byte(strings.Repeat(" ", depth) + at.String() + ": ")
}

// isLine reports whether LLVM reads a text as one line.
func isLine(s string) bool { return !strings.ContainsAny(s, "\n\x00") }

func (w *writer) metadata(f *Function, indent string) error {
	if w.probes {
		fmt.Fprintf(w.w, "%s!CFGChecksum: %d\n", indent, f.Checksum)
	}
	if f.Attributes != 0 {
		fmt.Fprintf(w.w, "%s!Attributes: %d\n", indent, f.Attributes)
	}
	return nil
}
