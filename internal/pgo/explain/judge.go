package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/show"
)

// question is an edge with one package's unit, in which its call is searched.
type question struct {
	*build
	*Edge
	path      string // the package's import path
	unit, off *unit  // with the profile and without
	from      *function
	to        *function // the callee; nil: it is not in the compiler's output
	local     string    // the callee's name in its package
	names     []string  // the callee, as -m writes it
	called    []string  // the callee, as calls write it
}

// choose keeps, of several commands, the one that has most of the weight of main's calls,
// because a profile is of one program.
func (b *build) choose(hot []pgo.Edge, weight map[pgo.Edge]int64) {
	all, best, most := b.mains, "", int64(-1)
	if len(all) < 2 {
		return
	}
	for _, m := range all {
		b.mains = []string{m}
		sum := int64(0)
		for _, e := range hot {
			if path, _ := split(e.Caller); path == "main" && b.judge(&Edge{Edge: e}) {
				sum += weight[e]
			}
		}
		if sum > most {
			best, most = m, sum
		}
	}
	b.mains = []string{best}
	b.flagged = slices.DeleteFunc(b.flagged, func(p string) bool { return p != best && slices.Contains(all, p) })
}

// judge fills in the compiler's decision on an edge, and reports whether the compiler has the
// call.
func (b *build) judge(x *Edge) bool {
	if x.Caller == "" || x.Callee == "" { // of code without a file; all unnamed functions look alike
		x.Verdict, x.Text = Unknown, "the profile does not name the callee"
		if x.Caller == "" {
			x.Text = "the profile does not name the caller"
		}
		return true
	}
	x.Verdict, x.Text = NotBuilt, "nothing that is built has the caller's package"
	if strings.HasPrefix(x.Caller, "type:") {
		x.Verdict, x.Text = Generated, "the compiler makes the caller"
		return true
	}
	paths := b.packages(x.Caller)
	if path, _ := split(x.Caller); path != "main" && strings.Contains(x.Caller, "[") {
		paths = b.flagged // the packages that instantiate it compile it
	}
	for _, p := range paths {
		q := &question{build: b, Edge: x, path: p, unit: b.with.units[p], off: b.without.units[p]}
		if q.unit == nil {
			continue
		}
		if q.off == nil {
			q.off = &unit{}
		}
		if q.answer() {
			return true
		}
	}
	return false
}

// answer reports whether the unit has the caller and the call.
func (q *question) answer() bool {
	var path string
	path, q.local = split(q.Callee)
	q.names = spelled(path, q.build.names[path], q.local, q.own(path))
	q.called = called(path, q.build.names[path], q.local, q.own(path))
	if q.from, q.to = q.function(q.Caller), q.function(q.Callee); q.from == nil {
		if q.Verdict == NotBuilt && slices.Contains(q.packages(q.Caller), q.path) {
			q.Verdict, q.Text = Gone, "its package has no such caller"
		}
		return false
	}
	q.File, q.Line = q.from.file, q.from.line+q.Offset
	direct, indirect, others := q.calls()
	switch {
	case len(direct) > 0:
		q.direct(direct)
	case q.generated(path):
		q.Verdict, q.Text = Generated, "a call that the compiler makes, or in assembly"
	case len(indirect) > 0:
		q.indirect(indirect)
	case q.deferred():
		q.Verdict, q.Text = GoOrDefer, "a go or defer statement, which calls it in a wrapper or later"
	case others > 0:
		q.Verdict, q.Text = Gone, "the line calls other functions now"
		return false
	default:
		q.Verdict, q.Text = Gone, "the line has no call now"
		return false
	}
	return true
}

// generated reports whether the callee, of a package as the linker names it, is a function that
// sources of the caller's package don't name: of the runtime, or a part of a function in
// assembly. In the runtime itself, such a function has no body in Go.
func (q *question) generated(path string) bool {
	if path == "" {
		return true
	}
	exported := q.local >= "A" && q.local < "["
	return path == "runtime" && !exported && (q.path != "runtime" || q.to != nil && q.to.why == "no function body")
}

// own reports whether a package, as the linker names it, is the unit's.
func (q *question) own(path string) bool {
	return path == q.path || path == "main" && slices.Contains(q.mains, q.path)
}

// function returns the compiler's output on a function, of its package or of the unit's, which
// instantiates it; nil if there is none.
func (q *question) function(name string) *function {
	path, local := split(name)
	if q.own(path) {
		return q.unit.functions[collapse(local)]
	}
	for _, s := range spelled(path, q.build.names[path], local, false) {
		if f := q.unit.functions[s]; f != nil {
			return f
		}
	}
	for _, p := range q.packages(name) {
		if u := q.with.units[p]; u != nil && u.functions[collapse(local)] != nil {
			return u.functions[collapse(local)]
		}
	}
	return nil
}

// inlines reports whether the callee was inlined at a place.
func (q *question) inlines(u *unit, at position) bool { return u.inlines(at, q.names) }

// inlines reports whether a function was inlined at a place, under one of the names as -m writes
// them.
func (u *unit) inlines(at position, names []string) bool {
	return slices.ContainsFunc(u.inlined[at], func(name string) bool { return slices.Contains(names, name) })
}

// calls returns the calls of the line that call the callee, those that may, and the number of
// other calls.
func (q *question) calls() (direct, indirect []*call, others int) {
	var inlined []*call // the call, or one in the body of another call that was inlined
	for _, c := range q.unit.calls[q.Caller] {
		if c.line != q.Line { // the compiler ignores files, which //line changes
			continue
		}
		switch {
		case c.Devirtualized == q.Callee || q.isOf(c):
			direct = append(direct, c)
		case q.inlines(q.unit, c.position):
			inlined = append(inlined, c)
		case !c.Direct && c.unfit[q.Callee] == "":
			indirect = append(indirect, c)
		default:
			others++
		}
	}
	if len(direct) == 0 {
		direct = inlined
	}
	return direct, indirect, others
}

// isOf reports whether a call is of the callee. The compiler's output has no name for a call of
// a literal, nor for a method of a variable of known type.
func (q *question) isOf(c *call) bool {
	if c.Direct && slices.Contains(q.called, c.callee) {
		return true
	}
	if c.Hottest != q.Callee || q.to == nil {
		return false
	}
	if c.Direct { // the line's hottest callee may be that of an indirect call next to it
		return isClosure(q.local) && c.callee == "(func literal)"
	}
	// The hottest callee is that of the line, whose other calls may have other names.
	method := c.callee[strings.LastIndexByte(c.callee, '.')+1:]
	return q.unit.static[c.position] && strings.HasSuffix(q.local, "."+method)
}

// deferred reports whether a go or defer statement of the caller calls the callee.
func (q *question) deferred() bool {
	for name, calls := range q.unit.calls {
		in, wrapper := wrapped(name)
		if in != q.Caller {
			continue
		}
		for _, c := range calls {
			if (wrapper || c.deferred) && c.Direct && (c.Hottest == q.Callee || slices.Contains(q.called, c.callee)) {
				q.File, q.Line = c.file, c.line
				return true
			}
		}
	}
	return false
}

// direct judges calls of the callee, of which a line can have several: by one that was not
// inlined, if there is one.
func (q *question) direct(calls []*call) {
	judged := calls[0]
	for _, c := range calls {
		if q.inlines(q.unit, c.position) {
			q.at = append(q.at, copied{q, c.position})
		} else {
			judged = c
		}
	}
	q.one(judged)
	if n := len(q.at); n > 0 && n < len(calls) {
		q.Verdict = InlinedInPart
		q.Text += fmt.Sprintf("; %d of %d calls of the line are inlined", n, len(calls))
	}
}

// one judges a call of the callee.
func (q *question) one(c *call) {
	q.File = c.file
	cost := q.takes()
	inlined, without := q.inlines(q.unit, c.position), q.inlines(q.off, c.position)
	devirtual := ""
	if c.Devirtualized == q.Callee && c.Weight > 0 {
		q.Devirtualized = q.Callee
		devirtual = fmt.Sprintf("devirtualized to %s, which has %s of this line", q.Callee, show.Percent(float64(c.DevirtualizedWeight)/float64(c.Weight)))
	}
	switch {
	case c.deferred:
		q.Verdict, q.Text = GoOrDefer, "a go or defer statement, which calls it in a wrapper or later"
	case inlined && devirtual != "":
		q.Verdict, q.Text = DevirtualInlined, devirtual+", and inlined"+cost
	case inlined:
		q.inlined(without, cost)
	default:
		var why string
		q.Verdict, why = q.refusal()
		q.Text = "not inlined: " + why
		if devirtual != "" {
			q.Verdict, q.Text = Devirtualized, devirtual+"; "+q.Text
		}
		if without {
			q.Text += "; without the profile it is"
		}
	}
	if inlined && (q.Caller == q.Callee || q.unit.cycles[c.position]) {
		q.Text += "; once, since that has the same call"
	}
}

// takes fills in the cost of inlining the callee, and returns it as text.
func (q *question) takes() string {
	if q.to == nil || q.to.why != "" {
		return ""
	}
	q.Cost = q.to.cost
	return fmt.Sprintf(", cost %d", q.Cost)
}

// inlined fills in the verdict for a direct call that was inlined.
func (q *question) inlined(without bool, cost string) {
	if q.Verdict, q.Text = Inlined, "inlined because of the profile"+cost; without {
		q.Verdict, q.Text = InlinedAnyway, "inlined, without the profile too"+cost
	}
}

// bigCost is the maximum cost of functions inlined into a large function
// (inlineBigFunctionMaxCost).
const bigCost = 20

// refusal returns why a call of the callee was not inlined.
func (q *question) refusal() (Verdict, string) {
	generic := strings.Contains(q.Caller+q.Callee, "[...]")
	switch {
	case generic && (q.to == nil || q.to.why == "" || strings.HasPrefix(q.to.why, "cost ")):
		return Generic, "the profile has [...] for the type arguments, and the compiler matches whole names alone" + q.price()
	case q.to == nil:
		return Unknown, string(Unknown) + " why"
	case q.to.why != "":
		return CannotInline, q.to.why
	case q.from.big && q.to.cost > bigCost:
		return BigCaller, fmt.Sprintf("the caller is so large that it takes functions up to cost %d alone, and this has %d", bigCost, q.to.cost)
	}
	return Unknown, string(Unknown) + " why" + q.price()
}

// price returns the callee's cost as text, if it is known.
func (q *question) price() string {
	switch {
	case q.to == nil:
		return ""
	case q.to.why != "":
		return ", " + q.to.why
	}
	return fmt.Sprintf(", cost %d", q.to.cost)
}

// indirect judges calls that may be of the callee, and were not devirtualized to it.
func (q *question) indirect(calls []*call) {
	c := calls[0]
	for _, other := range calls {
		if other.Hottest == q.Callee {
			c = other
		}
	}
	q.File, q.Verdict = c.file, NotDevirtualized
	switch {
	case c.deferred:
		q.Verdict, q.Text = GoOrDefer, "a go or defer statement, which calls it in a wrapper or later"
	case c.Devirtualized != "":
		q.Text = fmt.Sprintf("not devirtualized: the call is to %s, which has %s of this line", c.Devirtualized, show.Percent(float64(c.DevirtualizedWeight)/float64(max(c.Weight, 1))))
	case c.Hottest == "":
		q.Text = "not devirtualized: " + string(Unknown) + " why, as the profile does not name the line's hottest"
	case c.Hottest != q.Callee:
		q.Text = fmt.Sprintf("not devirtualized: %s is hotter, with %s of this line", c.Hottest, show.Percent(float64(c.HottestWeight)/float64(max(c.Weight, 1))))
	case c.refused != "":
		q.Text = "not devirtualized: " + c.refused
	default:
		q.Text = "not devirtualized: " + string(Unknown) + " why"
	}
}

// copied is a place where a function was inlined.
type copied struct {
	*question // of an edge to the function
	at        position
}

// has reports whether a function is inlined there too.
func (c copied) has(u *unit, name string) bool {
	path, local := split(name)
	return u.inlines(c.at, spelled(path, c.build.names[path], local, c.own(path)))
}

// copies adjusts verdicts where copies of the caller differ from it. The compiler counts the
// lines of a call in a copy from the function that the copy is in, so the call is not hot there.
// Also, a large caller may have a small copy, and a func value may be known where it was passed.
func (b *build) copies(edges []Edge) {
	into := map[string][]copied{} // where functions were inlined
	for i := range edges {
		into[edges[i].Callee] = append(into[edges[i].Callee], edges[i].at...)
	}
	for more := true; more; { // a closure's call may be of a closure that is another's caller
		more = false
		for i := range edges {
			if e := &edges[i]; e.Verdict == Gone && b.came(e, into[e.Caller]) {
				into[e.Callee] = append(into[e.Callee], e.at...)
				more = true
			}
		}
	}
	for i := range edges {
		e := &edges[i]
		var here bool
		words := "not"
		switch e.Verdict {
		case Inlined, InlinedAnyway, DevirtualInlined:
			here = true
		case NotDevirtualized, Devirtualized, BigCaller, Unknown:
			words = "inlined"
		default:
			continue
		}
		if strings.HasPrefix(e.Callee, e.Caller+".") {
			continue // the copy has this closure by another name
		}
		for _, c := range into[e.Caller] {
			if c.has(c.unit, e.Callee) != here {
				e.Verdict = InlinedInPart
				e.Text += fmt.Sprintf("; %s in the copy of %s in %s", words, e.Caller, c.Caller)
				break
			}
		}
	}
}

// came judges an edge of a closure that came with an inlined function. The compiler considered
// its calls by another name, and by this name reports only what was inlined where it was.
func (b *build) came(e *Edge, copies []copied) bool {
	for _, u := range b.with.units {
		if len(u.calls[e.Caller]) > 0 {
			return false
		}
	}
	for _, c := range copies {
		if c.has(c.unit, e.Callee) {
			q := *c.question
			q.Edge, q.to = e, c.function(e.Callee)
			if len(e.at) == 0 {
				q.inlined(c.has(c.off, e.Callee), q.takes())
			}
			e.at = append(e.at, copied{&q, c.at})
		}
	}
	return len(e.at) > 0
}
