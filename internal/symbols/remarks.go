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

// RemarkKind is what the compiler's remark is about.
type RemarkKind string

// The kinds.
const (
	Inlined      RemarkKind = "inlined"       // a call that was
	CanInline    RemarkKind = "can-inline"    // a function that can be
	CannotInline RemarkKind = "cannot-inline" // and why
	Escapes      RemarkKind = "escapes"       // a value is on the heap
	Leaks        RemarkKind = "leaks"         // a parameter may be kept
	Bounds       RemarkKind = "bounds"        // an index or a slice is checked
)

// Remark is what the compiler says about a line.
type Remark struct {
	Line, Column int
	Kind         RemarkKind
	Text         string // a sentence, or the compiler's own words
}

var remarkLine = regexp.MustCompile(`^(.+?):(\d+):(\d+): (.*)$`)

// Remarks has the go command compile the package of a source file, and returns what the
// compiler said about the file. It takes as long as that package's build: the go command
// keeps what the compiler said, and repeats it. Nothing is written but the build cache.
func Remarks(ctx context.Context, path string) ([]Remark, error) {
	dir := filepath.Dir(path)
	// Flags without a pattern are for the package that is named alone.
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=-m=2 -d=ssa/check_bce/debug=1", "-o", os.DevNull, ".")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	list := parseRemarks(out.Bytes(), filepath.Base(path))
	if err != nil && len(list) == 0 {
		first, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
		return nil, fmt.Errorf("the compiler says nothing about %s: go build in %s: %w: %s", filepath.Base(path), dir, err, first)
	}
	return list, nil
}

// parseRemarks reads what the compiler printed about a file.
func parseRemarks(out []byte, base string) (list []Remark) {
	said := map[Remark]bool{}
	in := bufio.NewScanner(bytes.NewReader(out))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		m := remarkLine.FindStringSubmatch(in.Text())
		if m == nil || filepath.Base(m[1]) != base || strings.HasPrefix(m[4], " ") {
			continue // another file's, or how the compiler found out
		}
		r := Remark{}
		r.Line, _ = strconv.Atoi(m[2])
		r.Column, _ = strconv.Atoi(m[3])
		if r.Kind, r.Text = remark(m[4]); r.Kind != "" && !said[r] {
			said[r] = true
			list = append(list, r)
		}
	}
	return list
}

var (
	canInline    = regexp.MustCompile(`^can inline (.+?) with cost (\d+) as: `)
	cannotInline = regexp.MustCompile(`^cannot inline (.+?): (.*)$`)
	tooComplex   = regexp.MustCompile(`^function too complex: cost (\d+) exceeds budget (\d+)$`)
	inliningCall = regexp.MustCompile(`^inlining call to (.+)$`)
)

// remark returns what a line of the compiler's is about; "" where that is nothing to tell.
func remark(text string) (RemarkKind, string) {
	switch {
	case text == "Found IsInBounds":
		return Bounds, "the index is checked"
	case text == "Found IsSliceInBounds":
		return Bounds, "the bounds of the slice are checked"
	case strings.HasPrefix(text, "moved to heap: "):
		return Escapes, text
	case strings.HasSuffix(text, " escapes to heap"):
		return Escapes, text
	case strings.HasPrefix(text, "leaking param"):
		return Leaks, text
	}
	if m := canInline.FindStringSubmatch(text); m != nil {
		return CanInline, "can inline " + m[1] + ": cost " + m[2]
	}
	if m := inliningCall.FindStringSubmatch(text); m != nil {
		return Inlined, text
	}
	if m := cannotInline.FindStringSubmatch(text); m != nil {
		why := m[2]
		if c := tooComplex.FindStringSubmatch(why); c != nil {
			why = "cost " + c[1] + " exceeds " + c[2]
		}
		return CannotInline, "cannot inline " + m[1] + ": " + why
	}
	return "", ""
}
