package doctor

import (
	"cmp"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Place is a place in the source that a finding refers to.
type Place struct {
	What     string // what happens there; may have marks, which ReplaceMarks replaces
	Function string
	File     string
	Line     int
}

// wakeup is a pair of stacks: where goroutines wait, and where others wake them.
type wakeup struct{ at, by uint32 }

// mostPlaces is the maximum number of places of a finding.
const mostPlaces = 7

// locate sets the places of a finding: from the stacks of waits and of their wake-ups, from
// where names were given, and from the CPU profile.
func (m *model) locate(f *Finding) {
	add := func(what, text string) { f.add(what, m.frames[text]) }
	begin := func() {
		for _, s := range f.Scopes {
			f.add("scope "+named(s)+" begins", frameOf(m.given[s]))
		}
	}
	if f.Verdict == fatCriticalSection {
		begin() // these scopes should leave the critical section
	}
	switch u := f.use; {
	case u != nil:
		if f.Verdict == blockingUnderLock {
			add("the holder waits", m.ownPlace(longest(u.blockedAt)))
		}
		at, by := m.waitedAt(u)
		if len(by) > 0 {
			add("the holder unlocks it", by[0])
		}
		for i := range at {
			add("goroutines wait for it", at[i])
		}
		first := " is first locked"
		if !f.OfLock() {
			first = " is first tried"
		}
		f.add(named(f.Object)+first, frameOf(m.given[f.Object]))
		if len(at) > 0 {
			add("the waiting function is called", m.above[at[0]])
		}
	case f.Object != "":
		add(objects[f.Verdict], f.Object)
		if f.Verdict == loadImbalance || f.Verdict == tooFine {
			add("the function that creates them is called", m.above[f.Object])
		}
		if by := m.wokenFrom(f.Object); len(by) > 0 {
			add("the other side is", by[0])
		}
	}
	if leaf, call, share := m.hottest(f); leaf != "" {
		add("most samples of CPU time "+sampled(f)+" ("+show.Percent(share)+") are", leaf)
		if call != leaf {
			add("the calls with the most samples are", call)
		}
	}
	if f.Verdict != fatCriticalSection {
		begin()
	}
	f.places = f.places[:min(len(f.places), mostPlaces)]
}

func frameOf(p trace.Place) symbols.Frame {
	return symbols.Frame{Func: p.Function, File: p.File, Line: max(p.Line, 0)}
}

// objects describes what happens at the place that is a finding's object.
var objects = map[Verdict]string{
	serialization:        "goroutines wait for the previous one",
	loadImbalance:        "the goroutines are created",
	tooFine:              "the goroutines are created",
	oversubscription:     "goroutines yield",
	notEnoughParallelism: "the other goroutines wait",
	channel:              "goroutines wait to hand values on",
	spinning:             "the loop polls",
}

// add adds the place of a frame, or extends the description of the one at that line.
func (f *Finding) add(what string, at symbols.Frame) {
	if at.Line == 0 || what == "" {
		return
	}
	if i := slices.IndexFunc(f.places, func(p Place) bool { return p.File == at.File && p.Line == at.Line }); i >= 0 {
		f.places[i].What += ", and " + what
		return
	}
	f.places = append(f.places, Place{what, at.Func, at.File, at.Line})
}

// mostAt is the maximum number of places reported where a lock is waited for.
const mostAt = 2

// waitedAt returns the texts of the frames where goroutines wait for a lock, and where
// others end these waits. There are none if the states have no such wait.
func (m *model) waitedAt(u *use) (at, by []string) {
	waited, woke := map[string]int64{}, map[string]int64{}
	stacks := map[uint32]bool{}
	for _, w := range u.l.waits {
		for i := w.g.at(w.from); i < len(w.g.ivs) && w.g.ivs[i].from < w.to; i++ {
			if v := &w.g.ivs[i]; v.lock == u.index && v.stack != 0 && waits(v.state) {
				stacks[v.stack] = true
				waited[m.place(v.stack)] += v.to - v.from
			}
		}
	}
	for k, ns := range m.wakers {
		if stacks[k.at] {
			woke[m.place(k.by)] += ns
		}
	}
	return longestFirst(waited, mostAt), longestFirst(woke, 1)
}

// wokenFrom returns the place from which waits at a place mostly end.
func (m *model) wokenFrom(place string) []string {
	woke := map[string]int64{}
	for k, ns := range m.wakers {
		if m.place(k.at) == place {
			woke[m.place(k.by)] += ns
		}
	}
	return longestFirst(woke, 1)
}

// longestFirst returns up to n non-empty texts, those with the most time first.
func longestFirst(times map[string]int64, n int) []string {
	var list []string
	for text := range times {
		if text != "" {
			list = append(list, text)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	return list[:min(len(list), n)]
}

// fewSamples is the minimum number of samples for a statement about a line.
const fewSamples = 5

// hottest returns the line of the program that has most samples of a finding, and its share
// of them. For the garbage collector these are samples of allocating, otherwise those in the
// finding's scopes. call is the line in the function that begins the scope from which most
// of them were called.
func (m *model) hottest(f *Finding) (leaf, call string, share float64) {
	leaves, calls, all := map[string]int64{}, map[[2]string]int64{}, 0
	type lines struct{ leaf, call string }
	if m.stack == nil {
		return "", "", 0
	}
	known := map[uint32]lines{} // by stack, if it has a function of the scopes
	begins := map[string]bool{}
	for _, s := range f.Scopes {
		begins[m.given[s].Function] = true
	}
	for i := range m.samples {
		s := &m.samples[i]
		if s.g.role != roleUser || f.Verdict == gc && !s.alloc {
			continue
		}
		if f.Verdict != gc && len(f.Scopes) > 0 {
			name, ok := s.g.scope(s.at)
			if !ok || !slices.Contains(f.Scopes, m.name(name)) {
				continue
			}
		}
		x, ok := known[s.stack]
		if !ok {
			frames := m.stack(s.stack)
			x.leaf = m.ownPlace(s.stack)
			for k := range frames {
				if begins[frames[k].Func] {
					x.call = m.text(frames[k])
					break
				}
			}
			if len(begins) == 0 && x.leaf != "" {
				x.call = m.above[x.leaf]
			}
			known[s.stack] = x
		}
		all++
		leaves[x.leaf]++
		calls[[2]string{x.leaf, x.call}]++
	}
	top := longestFirst(leaves, 1)
	if len(top) == 0 || leaves[top[0]] < fewSamples {
		return "", "", 0
	}
	leaf = top[0]
	for k, n := range calls {
		if best := calls[[2]string{leaf, call}]; k[0] == leaf && k[1] != "" && (n > best || n == best && k[1] < call) {
			call = k[1]
		}
	}
	return leaf, call, float64(leaves[leaf]) / float64(all)
}

// sampled describes the samples that hottest counts.
func sampled(f *Finding) string {
	switch {
	case f.Verdict == gc:
		return "in allocating"
	case len(f.Scopes) > 0:
		return "in " + quoted(f.Scopes)
	}
	return "of the program"
}

// text returns the text of a frame, and stores the frame by it. Frames of several
// directories with the same text lose the directory.
func (m *model) text(f *symbols.Frame) string {
	text := show.Name(f.String())
	switch known, ok := m.frames[text]; {
	case m.frames == nil:
		m.frames = map[string]symbols.Frame{text: *f}
	case !ok:
		m.frames[text] = *f
	case known.File != f.File:
		known.File = f.File[strings.LastIndexAny(f.File, `/\`)+1:]
		m.frames[text] = known
	}
	return text
}

// ownPlace returns the text of the first frame of a stack that is not in the standard
// library; "" if there is none.
func (m *model) ownPlace(stack uint32) string {
	if m.stack == nil {
		return ""
	}
	frames := m.stack(stack)
	f := ofProgram(frames, m.module)
	if f == nil {
		return ""
	}
	text := m.text(f)
	m.calledFrom(text, f, frames)
	return text
}

// calledFrom stores the program's frame that called the frame f of a stack.
func (m *model) calledFrom(text string, f *symbols.Frame, frames []*symbols.Frame) {
	i := slices.IndexFunc(frames, func(x *symbols.Frame) bool { return *x == *f })
	up := ofProgram(frames[i+1:], m.module)
	if up == nil {
		return
	}
	if m.above == nil {
		m.above = map[string]string{}
	}
	call := m.text(up)
	if known, ok := m.above[text]; ok && known != call {
		call = ""
	}
	m.above[text] = call
}

// ofProgram returns the first frame outside the standard library, by its name: other
// packages have a dot in the first element of their path, or belong to the program's module.
func ofProgram(frames []*symbols.Frame, module string) *symbols.Frame {
	for _, f := range frames {
		if gotrace.Functions.Recorder.Has(f.Func) {
			continue
		}
		first, _, below := strings.Cut(f.Func, "/")
		if strings.HasPrefix(f.Func, "main.") || below && strings.Contains(first, ".") || module != "" && strings.HasPrefix(f.Func, module) {
			return f
		}
	}
	return nil
}

// OfLock reports whether a finding is about a lock that can be held.
func (f *Finding) OfLock() bool { return f.use != nil && f.use.l.kind != format.LockRetry }

// Placed reports whether a finding's object is a place in the source, and so already safe to show.
func (f *Finding) Placed() bool { return f.use == nil || f.use.l.place }

// Places returns the finding's places in the source, most important first.
func (f *Finding) Places() []Place { return f.places }
