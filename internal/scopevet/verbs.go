package scopevet

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"strings"
	"unicode/utf8"
)

// verbs checks the format of a Taskf against the arguments. The reader formats the text
// later, from the recorded values (internal/args): fmt's rules for numbers, strings, bools
// and durations apply, String and Error methods are never called, and arguments named by
// scope.KV are not operands. The printf check of x/tools handles neither.
func (c *checker) verbs(call *ast.CallExpr) {
	if len(call.Args) == 0 {
		return
	}
	value := c.TypesInfo.Types[call.Args[0]].Value
	if value == nil || value.Kind() != constant.String {
		return
	}
	f := &formatCheck{checker: c, call: call, text: constant.StringVal(value), known: call.Ellipsis == 0}
	for _, a := range call.Args[1:] {
		t := c.TypesInfo.TypeOf(a)
		switch {
		case isNamed(t, "Arg"):
			f.named++
		case mayBeArg(t):
			// It may be an operand or not: from here on nothing is certain.
			f.known = false
		default:
			f.operands = append(f.operands, a)
		}
	}
	f.check()
}

// mayBeArg reports whether a value of type t may be an Arg.
func mayBeArg(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface) // of a type parameter: its constraint
	return ok && i.NumMethods() == 0
}

// kind is the recorder's representation of a value.
type kind int

const (
	unknown kind = iota // an interface: depends on its value
	integer
	float
	boolean
	text
	duration
	other // name of its type, with every verb
)

// kinds have the words for the kinds, and the verbs with which fmt prints them.
var kinds = [...]struct{ name, verbs string }{
	unknown:  {"", "vTtbcdoOqxXUeEfFgGs"},
	integer:  {"an integer", "vTdboOxXcqU"},
	float:    {"a float", "vTbgGxXfFeE"},
	boolean:  {"a bool", "vTt"},
	text:     {"a string", "vTsqxX"},
	duration: {"a duration", "vTsdboOxXcqU"},
	other:    {"the name of its type", "vTtbcdoOqxXUeEfFgGs"},
}

func kindOf(t types.Type) kind {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Duration" {
		return duration
	}
	switch u := t.Underlying().(type) {
	case *types.Interface:
		return unknown
	case *types.Basic:
		switch info := u.Info(); {
		case info&types.IsInteger != 0:
			return integer
		case info&types.IsFloat != 0:
			return float
		case info&types.IsBoolean != 0:
			return boolean
		case info&types.IsString != 0:
			return text
		}
	}
	return other
}

// formatCheck parses a format as fmt does.
type formatCheck struct {
	*checker
	call     *ast.CallExpr
	text     string
	operands []ast.Expr
	named    int  // number of arguments from scope.KV
	known    bool // operands are complete

	i       int // in text
	next    int // operand
	most    int // number of operands used
	indexed bool
	bad     bool // a problem was reported
}

func (f *formatCheck) report(pos ast.Node, text string, args ...any) {
	f.bad = true
	f.ReportRangef(pos, "%s", fmt.Sprintf(text, args...))
}

func (f *formatCheck) check() {
	for f.i < len(f.text) && !f.bad {
		n := strings.IndexByte(f.text[f.i:], '%')
		if n < 0 {
			break
		}
		f.i += n
		f.verb()
	}
	if !f.bad && f.known && !f.indexed && f.most < len(f.operands) {
		f.report(f.operands[f.most], "the format of scope.Taskf reads %s, and there %s%s", count(f.most), are(len(f.operands)), f.hint())
	}
}

func count(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return fmt.Sprintf("%d arguments", n)
}

func are(n int) string {
	if n == 1 {
		return "is 1"
	}
	return fmt.Sprintf("are %d", n)
}

func (f *formatCheck) hint() string {
	if f.named == 0 {
		return ""
	}
	return " (those of scope.KV are shown by their names and not counted)"
}

// verb checks the verb that begins at f.i.
func (f *formatCheck) verb() {
	from := f.i
	f.i++
	f.skip("+-# 0")
	f.index()
	f.star(from)
	if f.at('.') {
		f.i++
		f.index()
		f.star(from)
	}
	f.index()
	if f.i >= len(f.text) {
		f.report(f.call.Args[0], "the format of scope.Taskf ends in the middle of a verb: %s", f.text[from:])
		return
	}
	r, n := utf8.DecodeRuneInString(f.text[f.i:])
	f.i += n
	verb := f.text[from:f.i]
	switch {
	case r == '%':
	case !strings.ContainsRune(kinds[other].verbs, r):
		f.report(f.call.Args[0], "scope.Taskf has no verb %s", verb)
	default:
		if a, k := f.operand(verb); a != nil && !strings.ContainsRune(kinds[k].verbs, r) {
			method := ""
			if k == integer && hasText(f.TypesInfo.TypeOf(a)) {
				method = ": its methods are not called"
			}
			f.report(a, "the verb %s of scope.Taskf can't print %s, which is recorded as %s%s", verb, types.ExprString(a), kinds[k].name, method)
		}
	}
}

func (f *formatCheck) at(c byte) bool { return f.i < len(f.text) && f.text[f.i] == c }

func (f *formatCheck) skip(chars string) {
	for f.i < len(f.text) && strings.IndexByte(chars, f.text[f.i]) >= 0 {
		f.i++
	}
}

// index reads an operand's number in brackets.
func (f *formatCheck) index() {
	if !f.at('[') {
		return
	}
	n := 0
	end := strings.IndexByte(f.text[f.i:], ']')
	if end < 0 {
		f.report(f.call.Args[0], "the format of scope.Taskf has a [ without a ]")
		f.i = len(f.text)
		return
	}
	inside := f.text[f.i+1 : f.i+end]
	if _, err := fmt.Sscanf(inside, "%d", &n); err != nil || n < 1 {
		f.report(f.call.Args[0], "[%s] in the format of scope.Taskf is no argument's number", inside)
	}
	f.indexed = true
	f.next = n - 1
	f.i += end + 1
}

// star reads a width or precision.
func (f *formatCheck) star(from int) {
	if !f.at('*') {
		f.skip("0123456789")
		return
	}
	f.i++
	if a, k := f.operand(f.text[from:f.i]); a != nil && k != unknown && k != integer && k != duration {
		f.report(a, "the * of scope.Taskf takes an integer, and %s is recorded as %s", types.ExprString(a), kinds[k].name)
	}
}

// operand takes the next operand for a verb; nil if uncertain.
func (f *formatCheck) operand(verb string) (ast.Expr, kind) {
	i := f.next
	f.next++
	f.most = max(f.most, f.next)
	switch {
	case f.bad || !f.known:
		return nil, unknown
	case i >= len(f.operands):
		f.report(f.call.Args[0], "the verb %s of scope.Taskf reads argument %d, and there %s%s", verb, i+1, are(len(f.operands)), f.hint())
		return nil, unknown
	}
	a := f.operands[i]
	return a, kindOf(f.TypesInfo.TypeOf(a))
}

// hasText reports whether fmt would call a method of values of type t.
func hasText(t types.Type) bool {
	for _, name := range []string{"String", "Error"} {
		if o, _, _ := types.LookupFieldOrMethod(t, false, nil, name); o != nil {
			return true
		}
	}
	return false
}
