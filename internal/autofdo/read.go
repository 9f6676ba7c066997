package autofdo

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Error reports where a file is not a valid sample profile, and why.
type Error struct {
	File string
	Line int // 0: the file as a whole
	Text string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Text
	}
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.Text
}

// Warning reports a line that is read in another way than it looks.
type Warning struct {
	Line int // 0: the file as a whole
	Text string
}

// warningsMost limits the list of warnings; lineMost limits a line of the file.
const (
	warningsMost = 1000
	lineMost     = 16 << 20
)

// Read reads a profile, line by line. The error is an *Error if the file is invalid, with
// name as the file's name. A lenient reader forgives what LLVM does not: blanks too many or
// too few, tabs, lines of blanks, a byte order mark. The warnings list what was forgiven, and
// where Clang reads something else than is meant.
func Read(r io.Reader, name string, lenient bool) (*Profile, []Warning, error) {
	rd := &reader{file: name, lenient: lenient, p: New(), names: map[string]string{}}
	err := rd.read(bufio.NewReaderSize(r, 64<<10))
	if rd.dropped > 0 {
		rd.warnings = append(rd.warnings, Warning{0, fmt.Sprintf("%d more warnings are not listed", rd.dropped)})
	}
	if err != nil {
		return nil, rd.warnings, err
	}
	return rd.p, rd.warnings, nil
}

type reader struct {
	file    string
	lenient bool
	p       *Profile
	names   map[string]string

	line     int
	top      int         // the line of the function
	stack    []*Function // the function, and the inlined functions around the current line
	metadata int         // the depth of metadata, after which nothing else of that depth may follow; 0: none

	warnings []Warning
	dropped  int
}

func (r *reader) read(b *bufio.Reader) error {
	start, _ := b.Peek(len(binaryMagic) + 2) // an error occurs again with the first line
	if what := foreign(start); what != "" {
		return &Error{r.file, 0, what}
	}
	var buf []byte
	for end := false; !end; {
		var err error
		if buf, err = nextLine(b, buf[:0]); err != nil && err != io.EOF {
			if errors.Is(err, errLong) {
				return r.fail(err.Error())
			}
			return fmt.Errorf("%s:%d: reading: %w", r.file, r.line+1, err)
		}
		end = err == io.EOF
		r.line++
		if end && len(buf) > 0 {
			r.warn("the last line has no newline: the file may be truncated")
		}
		text := trimEnd(buf)
		if i := bytes.IndexByte(text, 0); i >= 0 {
			r.warn("a NUL byte: Clang stops reading there")
			text, end = text[:i], true
		}
		if err := r.take(string(text)); err != nil {
			return err
		}
	}
	if len(r.stack) == 0 {
		return &Error{r.file, 0, "Unrecognized sample profile encoding format: Expected '" + headForm + "', found nothing"}
	}
	r.checkTotals(r.stack[0])
	return nil
}

var errLong = fmt.Errorf("Expected a line of at most %d bytes, found a longer one: this is not a profile", lineMost)

// nextLine appends a line with its end to buf. At the file's end the error is io.EOF.
func nextLine(b *bufio.Reader, buf []byte) ([]byte, error) {
	for {
		part, err := b.ReadSlice('\n')
		buf = append(buf, part...)
		if err != bufio.ErrBufferFull {
			return buf, err
		}
		if len(buf) > lineMost {
			return nil, errLong
		}
	}
}

// trimEnd removes a line's end: a newline with or without a carriage return before it.
func trimEnd(line []byte) []byte {
	if text, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		return bytes.TrimSuffix(text, []byte("\r"))
	}
	return line
}

// take reads a line without its end.
func (r *reader) take(s string) error {
	if s == "" || s[0] == '#' {
		return nil
	}
	if r.lenient {
		if s = r.forgive(s); s == "" {
			return nil
		}
	}
	if len(r.stack) > 0 && strings.HasPrefix(strings.TrimLeft(s, " "), "#") {
		return nil
	}
	if s[0] != ' ' || len(r.stack) == 0 {
		return r.head(s)
	}
	e, ok := parseLine(s)
	if !ok {
		return r.fail("Expected '" + lineForm + "', found " + found(s) + hint(s))
	}
	return r.entry(s, &e)
}

// hint returns how to correct a refused line, if the expected form does not make that clear.
func hint(s string) string {
	position, rest, colon := strings.Cut(strings.TrimLeft(s, " "), ":")
	if at := (Loc{}); parseLoc(position, &at) && (!colon || rest != "" && rest[0] != ' ') {
		return " (write a blank behind the colon: Clang skips a byte there and reads another number)"
	}
	if n, ok := number(position, 64); ok && n > maxOffset {
		return fmt.Sprintf(" (a line offset is at most %d)", maxOffset)
	}
	for digits := range strings.FieldsFuncSeq(s, func(c rune) bool { return c < '0' || c > '9' }) {
		if _, ok := number(digits, 64); !ok {
			return fmt.Sprintf(" (a number is at most %d)", uint64(math.MaxUint64))
		}
	}
	return ""
}

// head reads the first line of a function.
func (r *reader) head(s string) error {
	name, total, head, whole, ok := parseHead(s)
	if !ok {
		text := "Expected '" + headForm + "', found " + found(s) + hint(s)
		if len(r.stack) == 0 {
			text = "Unrecognized sample profile encoding format: " + text
		}
		return r.fail(text)
	}
	if isContext(name) {
		calls, ok := parseContext(name)
		if !ok {
			return r.fail("Expected '[NAME:NUM[.NUM] @ NAME]:NUM:NUM', found " + found(s))
		}
		if as := contextName(calls); as != name {
			r.warn("a caller of the context has no line: Clang reads it as " + found(as))
			name = as
		}
	}
	if len(r.stack) > 0 {
		if isContext(name) != isContext(r.stack[0].Name) {
			return r.fail("Expected functions with contexts only or without contexts only, found both: " + found(s))
		}
		r.checkTotals(r.stack[0])
	}
	if !whole || name == "" || digit(name[0]) || strings.HasPrefix(name, byteOrderMark) {
		r.warn("Clang reads this line as a function named " + strconv.Quote(name))
	}
	if r.p.Functions[name] != nil {
		r.warn("function " + found(name) + " is repeated: Clang discards its earlier lines")
	}
	f := newFunction(r.intern(name))
	f.Total, f.Head = total, head
	r.p.Functions[f.Name] = f
	r.stack, r.top, r.metadata = append(r.stack[:0], f), r.line, 0
	return nil
}

// entry reads a line of a function.
func (r *reader) entry(s string, e *entry) error {
	meta := e.kind == checksum || e.kind == attributes
	if !meta && e.depth == r.metadata {
		return r.fail("Found non-metadata after metadata: " + found(s))
	}
	if e.depth > len(r.stack) {
		r.warn(fmt.Sprintf("%d blanks where at most %d are expected: Clang reads the line as one of %s", e.depth, len(r.stack), found(r.stack[len(r.stack)-1].Name)))
	}
	if e.at.Offset > maxOffset {
		r.warn(fmt.Sprintf("line offset %d: Clang uses none above %d", e.at.Offset, maxOffset))
	}
	r.stack = r.stack[:min(len(r.stack), e.depth)]
	f := r.stack[len(r.stack)-1]
	full := false
	switch e.kind {
	case inlinee:
		if strings.HasPrefix(e.name, " ") {
			r.warn("the name of the inlined function begins with a blank")
		}
		callee := f.inlined(e.at, r.intern(e.name))
		full = add(&callee.Total, e.samples, 1)
		r.stack, r.metadata = append(r.stack, callee), 0
	case body:
		full = r.body(f.line(e.at), e)
	case checksum:
		if e.samples != 0 {
			f.Checksum = e.samples
		}
		if f.Attributes != 0 {
			r.warn("Clang discards the attributes, which must follow the checksum")
		}
		f.Attributes, r.metadata = 0, e.depth
	case attributes:
		f.Attributes, r.metadata = uint32(e.samples), e.depth
	}
	if full {
		return r.fail("Counter overflow: Expected counts that add up to at most 18446744073709551615, found " + found(s))
	}
	return nil
}

func (r *reader) body(l *Line, e *entry) (full bool) {
	full = add(&l.Samples, e.samples, 1)
	slices.SortStableFunc(e.targets, func(a, b target) int { return strings.Compare(a.name, b.name) })
	for i, t := range e.targets {
		if i+1 < len(e.targets) && e.targets[i+1].name == t.name {
			r.warn("the call target " + found(t.name) + " is repeated: Clang uses the second count")
			continue
		}
		full = l.target(r.intern(t.name), t.count, 1) || full
	}
	return full
}

// checkTotals warns if a function's total differs from the sum of its lines.
func (r *reader) checkTotals(f *Function) {
	if sum := f.Sum(); sum != f.Total {
		r.warnAt(r.top, fmt.Sprintf("the total of %s is %d, and its lines add up to %d: Clang does not check it", found(f.Name), f.Total, sum))
	}
	_, callees := f.SortedInlined()
	for _, callee := range callees {
		r.checkTotals(callee)
	}
}

// intern returns the one copy of a name, which does not refer to a line of the file.
func (r *reader) intern(name string) string {
	s, ok := r.names[name]
	if !ok {
		s = strings.Clone(name)
		r.names[s] = s
	}
	return s
}

func (r *reader) warn(text string) { r.warnAt(r.line, text) }

func (r *reader) warnAt(line int, text string) {
	if len(r.warnings) == warningsMost {
		r.dropped++
		return
	}
	r.warnings = append(r.warnings, Warning{line, text})
}

func (r *reader) fail(text string) error { return &Error{r.file, r.line, text} }

// found returns a line for a message, quoted if it is not printable, and shortened if it is
// long.
func found(s string) string {
	const most = 200
	cut := ""
	if len(s) > most {
		s, cut = s[:most], "…"
	}
	if strings.ContainsFunc(s, func(c rune) bool { return c != '\t' && !strconv.IsPrint(c) }) {
		return strconv.QuoteToASCII(s) + cut
	}
	return s + cut
}
