package advice

import (
	"slices"
	"strings"
)

// library reports whether something was made in the standard library, where the program has no say. What
// functions of packages slices and maps make is the program's.
func (r *Row) library() bool {
	top := r.top()
	return top != "" && top != "slices" && top != "maps" && top != "iter"
}

// owned reports whether a slice grows within what works on texts for who calls it: there no capacity can
// be given.
func (r *Row) owned() bool {
	return slices.Contains([]string{"bufio", "bytes", "io", "strings", "unicode"}, r.top())
}

// top is the first part of the path of the standard library's package that something was made in, "" if
// it was not. The file tells: what is inlined may bear the name of a function of the program.
func (r *Row) top() string {
	if len(r.Stack) == 0 || !r.standard(r.Stack[0]) {
		return ""
	}
	_, file, _ := strings.Cut(r.Stack[0], " ")
	top, _, _ := strings.Cut(strings.TrimPrefix(file, r.root), "/")
	return top
}

// buffer is the sort of buffer that an array is in: "strings.Builder", "bytes.Buffer", "io.ReadAll", or
// "" if it is none, or one of the standard library's own.
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

// through reports whether a call stack has a frame that begins so.
func (r *Row) through(prefix ...string) bool {
	for _, f := range r.Stack {
		if begins(f, prefix...) {
			return true
		}
	}
	return false
}

// begins reports whether a frame begins with one of some texts.
func begins(frame string, prefix ...string) bool {
	for _, p := range prefix {
		if strings.HasPrefix(frame, p) {
			return true
		}
	}
	return false
}

// matters reports whether a gain is a hundredth of the time that was counted: below that what is usual in
// Go code is no problem, even if there is a faster way.
func (r *Row) matters(ns float64) bool {
	all := r.CPU
	if all == 0 {
		all = r.NS
	}
	return ns > 0 && ns >= all/100
}
