package explain

import (
	"fmt"
	"slices"
	"strings"
)

// question is what is asked of one package's unit about an edge.
type question struct {
	*build
	*Edge
	path      string // the package's import path
	unit, off *unit  // with the profile and without
	from      *function
	to        *function // the callee; nil: the compiler says nothing of it
	local     string    // the callee's name in its package
	names     []string  // the callee, as -m writes it
	called    []string  // the callee, as calls write it
}

// judge fills in what the compiler did with an edge.
func (b *build) judge(x *Edge) {
	x.Verdict, x.Text = NotBuilt, "nothing that is built has the caller's package"
	if strings.HasPrefix(x.Caller, "type:") {
		x.Verdict, x.Text = Generated, "the compiler makes the caller"
		return
	}
	paths := b.packages(x.Caller)
	if strings.Contains(x.Caller, "[") {
		paths = b.flagged // whoever instantiates it compiles it
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
			return
		}
	}
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

// generated reports whether the callee, of a package as the linker names it, is one that
// sources of the caller's package don't name: of the runtime, or a part of a function in
// assembly. In the runtime itself, that has no body in Go.
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

// function returns what the compiler says of a function: in its package, or in the unit's,
// which instantiates it; nil: nothing.
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
func (q *question) inlines(u *unit, at place) bool {
	return slices.ContainsFunc(u.inlined[at], func(name string) bool { return slices.Contains(q.names, name) })
}

// calls returns the calls of the line that call the callee, those that may, and how many others
// there are.
func (q *question) calls() (direct, indirect []*call, others int) {
	var inlined []*call // the call, or one in the body of another call that was inlined
	for _, c := range q.unit.calls[q.Caller] {
		if c.line != q.Line || c.file != q.File {
			continue
		}
		switch {
		case c.Devirtualized == q.Callee || q.isOf(c):
			direct = append(direct, c)
		case q.inlines(q.unit, c.place):
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

// isOf reports whether a call is of the callee. Neither a literal that is called has a name
// there, nor the method of a variable whose type is known.
func (q *question) isOf(c *call) bool {
	if c.Direct && slices.Contains(q.called, c.callee) {
		return true
	}
	if c.Hottest != q.Callee || q.to == nil {
		return false
	}
	if c.Direct {
		return isClosure(q.local)
	}
	// The hottest is that of the line, whose other calls may have other names.
	method := c.callee[strings.LastIndexByte(c.callee, '.')+1:]
	return q.unit.static[c.place] && strings.HasSuffix(q.local, "."+method)
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
		if q.inlines(q.unit, c.place) {
			q.at = append(q.at, copied{q.unit, c.place})
		} else {
			judged = c
		}
	}
	q.one(judged)
	if n := len(q.at); n > 0 && n < len(calls) {
		q.Text += fmt.Sprintf("; %d of %d calls of the line are inlined", n, len(calls))
	}
}

// one judges a call of the callee.
func (q *question) one(c *call) {
	cost := ""
	if q.to != nil && q.to.why == "" {
		q.Cost = q.to.cost
		cost = fmt.Sprintf(", cost %d", q.Cost)
	}
	inlined, without := q.inlines(q.unit, c.place), q.inlines(q.off, c.place)
	devirtual := ""
	if c.Devirtualized == q.Callee && c.Weight > 0 {
		q.Devirtualized = q.Callee
		devirtual = fmt.Sprintf("devirtualized to %s, which has %.0f %% of this line", q.Callee, 100*float64(c.DevirtualizedWeight)/float64(c.Weight))
	}
	switch {
	case c.deferred:
		q.Verdict, q.Text = GoOrDefer, "a go or defer statement, which calls it in a wrapper or later"
	case inlined && devirtual != "":
		q.Verdict, q.Text = DevirtualInlined, devirtual+", and inlined"+cost
	case inlined && without:
		q.Verdict, q.Text = InlinedAnyway, "inlined, without the profile too"+cost
	case inlined:
		q.Verdict, q.Text = Inlined, "inlined because of the profile"+cost
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
	if inlined && (q.Caller == q.Callee || q.unit.cycles[c.place]) {
		q.Text += "; once, since that has the same call"
	}
}

// bigCost is the cost of what a large function takes (inlineBigFunctionMaxCost).
const bigCost = 20

// refusal returns why a call of the callee was not inlined.
func (q *question) refusal() (Verdict, string) {
	generic := strings.Contains(q.Caller+q.Callee, "[...]")
	switch {
	case generic && (q.to == nil || q.to.why == "" || strings.HasPrefix(q.to.why, "cost ")):
		return Generic, "profiles write [...] for type arguments, which the compiler does not match" + q.price()
	case q.to == nil:
		return Unknown, string(Unknown) + " why"
	case q.to.why != "":
		return CannotInline, q.to.why
	case q.from.big && q.to.cost > bigCost:
		return BigCaller, fmt.Sprintf("the caller is so large that it takes functions up to cost %d alone, and this has %d", bigCost, q.to.cost)
	}
	return Unknown, string(Unknown) + " why" + q.price()
}

// price tells the callee's cost, if it is known.
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
	q.Verdict = NotDevirtualized
	switch {
	case c.deferred:
		q.Verdict, q.Text = GoOrDefer, "a go or defer statement, which calls it in a wrapper or later"
	case c.Devirtualized != "":
		q.Text = fmt.Sprintf("not devirtualized: the call is to %s, which has %.0f %% of this line", c.Devirtualized, 100*float64(c.DevirtualizedWeight)/float64(max(c.Weight, 1)))
	case c.Hottest != q.Callee:
		q.Text = fmt.Sprintf("not devirtualized: %s is hotter, with %.0f %% of this line", c.Hottest, 100*float64(c.HottestWeight)/float64(max(c.Weight, 1)))
	case c.refused != "":
		q.Text = "not devirtualized: " + c.refused
	default:
		q.Text = "not devirtualized: " + string(Unknown) + " why"
	}
}

// copied is a place where a function was inlined.
type copied struct {
	unit *unit
	at   place
}

// copies says of calls that were inlined because of the profile where they were not: in copies
// of their caller. The compiler counts a call in a copy by the lines of the function that the
// copy is in, so it is not hot there.
func (b *build) copies(edges []Edge) {
	into := map[string][]*Edge{} // the inlined calls of a function
	for i := range edges {
		if e := &edges[i]; len(e.at) > 0 {
			into[e.Callee] = append(into[e.Callee], e)
		}
	}
	for i := range edges {
		e := &edges[i]
		if e.Verdict != Inlined && e.Verdict != DevirtualInlined {
			continue
		}
		for _, copy := range into[e.Caller] {
			if !b.has(copy.at, e.Callee) {
				e.Text += fmt.Sprintf("; not in the copy of %s in %s", e.Caller, copy.Caller)
				break
			}
		}
	}
}

// has reports whether a function is inlined at all those places too.
func (b *build) has(places []copied, name string) bool {
	path, local := split(name)
	names := append(spelled(path, b.names[path], local, false), spelled(path, "", local, true)...)
	for _, p := range places {
		if !slices.ContainsFunc(p.unit.inlined[p.at], func(n string) bool { return slices.Contains(names, n) }) {
			return false
		}
	}
	return true
}
