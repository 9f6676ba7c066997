package advice

import (
	"slices"
	"strings"
)

// library reports whether an object was created in the standard library, which the program
// can't change. Objects from functions of packages slices, maps and iter are the program's.
func (r *Row) library() bool {
	top := r.top()
	return top != "" && top != "slices" && top != "maps" && top != "iter"
}

// owned reports whether a slice grows within a package that processes text for its caller:
// there no capacity can be set.
func (r *Row) owned() bool {
	return slices.Contains([]string{"bufio", "bytes", "io", "strings", "unicode"}, r.top())
}

// top returns the first element of the path of the standard library's package that created
// an object, "" if it was another one. It uses the file: an inlined function may have the
// name of one of the program's.
func (r *Row) top() string {
	if len(r.Stack) == 0 || !r.standard(r.Stack[0]) {
		return ""
	}
	_, file, _ := strings.Cut(r.Stack[0], " ")
	top, _, _ := strings.Cut(strings.TrimPrefix(file, r.root), "/")
	return top
}

// buffer returns the kind of buffer that an array belongs to: "strings.Builder",
// "bytes.Buffer", "io.ReadAll", or "" if it is none, or the standard library's own.
func (r *Row) buffer() string {
	of := ""
	for i, f := range r.Stack {
		switch {
		case begins(f, "strings.(*Builder)."):
			of = "strings.Builder"
		case begins(f, "bytes.(*Buffer)."):
			of = "bytes.Buffer"
		case begins(f, "io.ReadAll ") && i == 0:
			of = "io.ReadAll"
		case begins(f, "bytes.growSlice ", "unicode/utf8.AppendRune ") && of == "":
		case of != "" && begins(f, "fmt.", "io.", "bufio."):
		case of != "" && !r.standard(f):
			return of
		default:
			return ""
		}
	}
	return ""
}

// through reports whether a call stack has a frame that begins with one of the prefixes.
func (r *Row) through(prefix ...string) bool {
	for _, f := range r.Stack {
		if begins(f, prefix...) {
			return true
		}
	}
	return false
}

// begins reports whether a frame begins with one of the prefixes.
func begins(frame string, prefix ...string) bool {
	for _, p := range prefix {
		if strings.HasPrefix(frame, p) {
			return true
		}
	}
	return false
}

// matters reports whether a gain is at least a hundredth of the counted time: below that,
// usual Go code is no problem, even if there is a faster way.
func (r *Row) matters(ns float64) bool {
	all := r.CPU
	if all == 0 {
		all = r.NS
	}
	return ns > 0 && ns >= all/100
}

// stdTop has the first elements of the standard library's import paths.
var stdTop = map[string]bool{
	"archive": true, "bufio": true, "bytes": true, "cmp": true, "compress": true, "container": true, "context": true, "crypto": true,
	"database": true, "debug": true, "embed": true, "encoding": true, "errors": true, "expvar": true, "flag": true, "fmt": true,
	"go": true, "hash": true, "html": true, "image": true, "index": true, "internal": true, "io": true, "iter": true, "log": true,
	"maps": true, "math": true, "mime": true, "net": true, "os": true, "path": true, "plugin": true, "reflect": true, "regexp": true,
	"runtime": true, "slices": true, "sort": true, "strconv": true, "strings": true, "structs": true, "sync": true, "syscall": true,
	"testing": true, "text": true, "time": true, "unicode": true, "unique": true, "unsafe": true, "weak": true,
}
