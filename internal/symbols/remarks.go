package symbols

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// RemarkKind is the kind of a compiler's remark.
type RemarkKind string

// The kinds of remarks.
const (
	Inlined      RemarkKind = "inlined"       // a call was inlined
	CanInline    RemarkKind = "can-inline"    // a function can be inlined
	CannotInline RemarkKind = "cannot-inline" // a function cannot be inlined, with the reason
	Escapes      RemarkKind = "escapes"       // a value is on the heap
	Leaks        RemarkKind = "leaks"         // a parameter may be kept
	Bounds       RemarkKind = "bounds"        // an index or a slice is checked
)

// Remark is a remark of the compiler about a line.
type Remark struct {
	Line, Column int // Column 0: unknown
	Kind         RemarkKind
	Text         string // a sentence, or the compiler's own words
	Func         string // for remarks on inlining: the function, as the compiler writes it
	Cost         int    // for CanInline
	Why          string // for CannotInline
}

// remarkLine matches a remark with its position. The column is missing on lines numbered by a
// //line directive without one.
var remarkLine = regexp.MustCompile(`^(.+?):(\d+)(?::(\d+))?: (.*)$`)

// Remarks compiles the package of a source file with the go command, and returns the compiler's
// remarks about the file. The first call takes as long as that package's build; later ones
// repeat the remarks from the build cache. It writes nothing but the build cache.
func Remarks(ctx context.Context, path string) ([]Remark, error) {
	dir := filepath.Dir(path)
	// Flags without a pattern apply only to the named package.
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=-m=2 -d=ssa/check_bce/debug=1", "-o", os.DevNull, ".")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	list := parseRemarks(out.Bytes(), filepath.Base(path))
	if err != nil && len(list) == 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
		return nil, fmt.Errorf("no compiler remarks about %s: go build in %s: %w: %s", filepath.Base(path), dir, err, first)
	}
	return list, nil
}

// parseRemarks parses the compiler's output about a file.
func parseRemarks(out []byte, base string) (list []Remark) {
	said := map[Remark]bool{}
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		file, r, ok := ParseRemark(in.Text())
		if ok && filepath.Base(file) == base && r.Kind != "" && !said[r] {
			said[r] = true
			list = append(list, r)
		}
	}
	return list
}

// ParseRemark parses a line of the compiler's output, and returns the file as the compiler
// names it. ok is false if the line has no position. For a line with a position that is none of
// the kinds, Kind is "" and Text is all after the position.
func ParseRemark(line string) (file string, r Remark, ok bool) {
	m := remarkLine.FindStringSubmatch(line)
	if m == nil {
		return "", r, false
	}
	if !strings.HasPrefix(m[4], " ") { // otherwise the line explains the previous one
		r = remark(m[4])
	}
	if r.Kind == "" {
		r.Text = m[4]
	}
	r.Line, _ = strconv.Atoi(m[2])
	r.Column, _ = strconv.Atoi(m[3])
	return m[1], r, true
}

var (
	canInline    = regexp.MustCompile(`^can inline (.+?) with cost (\d+) as: `)
	cannotInline = regexp.MustCompile(`^cannot inline (.+?): (.*)$`)
	tooComplex   = regexp.MustCompile(`^function too complex: cost (\d+) exceeds budget (\d+)$`)
	inliningCall = regexp.MustCompile(`^inlining call to (.+?)(?: with score -?\d+)?$`)
)

// remark parses the text of a compiler's line; the Kind is "" if it is of no interest.
func remark(text string) Remark {
	switch {
	case text == "Found IsInBounds":
		return Remark{Kind: Bounds, Text: "the index is checked"}
	case text == "Found IsSliceInBounds":
		return Remark{Kind: Bounds, Text: "the bounds of the slice are checked"}
	case strings.HasPrefix(text, "moved to heap: "):
		return Remark{Kind: Escapes, Text: text}
	case strings.HasSuffix(text, " escapes to heap"):
		return Remark{Kind: Escapes, Text: text}
	case strings.HasPrefix(text, "leaking param"):
		return Remark{Kind: Leaks, Text: text}
	}
	if m := canInline.FindStringSubmatch(text); m != nil {
		cost, _ := strconv.Atoi(m[2])
		return Remark{Kind: CanInline, Text: "can inline " + m[1] + ": cost " + m[2], Func: m[1], Cost: cost}
	}
	if m := inliningCall.FindStringSubmatch(text); m != nil {
		return Remark{Kind: Inlined, Text: text, Func: m[1]}
	}
	if m := cannotInline.FindStringSubmatch(text); m != nil {
		why := m[2]
		if c := tooComplex.FindStringSubmatch(why); c != nil {
			why = "cost " + c[1] + " exceeds " + c[2]
		}
		return Remark{Kind: CannotInline, Text: "cannot inline " + m[1] + ": " + why, Func: m[1], Why: why}
	}
	return Remark{}
}
