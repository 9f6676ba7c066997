package perfdata

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Options select the part of a file that a profile is made of.
type Options struct {
	Event      string // as perf report names it; "": the first event, which must sample time
	Executable string // its path, or the end of it; "": the one with the most samples
	PID        uint32 // 0: all processes of the executable
	Binary     string // the file that is read for the executable; "": its path
}

// Profile makes a profile of a perf.data file. If it has branch records (perf record -b),
// the weights are calls, and branches has further counts; otherwise the weights are samples
// and branches is nil. The notes are sentences on what was left out and where names come
// from. The error wraps ErrFormat if the file is not perf's.
func Profile(ctx context.Context, path string, o Options) (p *pgo.Profile, branches *Branches, notes []string, err error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading a perf.data file: %w", err)
	}
	defer in.Close()
	if st, err := in.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, nil, nil, fmt.Errorf("reading %s: it is not a regular file, and is read twice: write perf's output to a file first", path)
	}
	f, err := newFile(in, path)
	if err != nil {
		return nil, nil, nil, err
	}
	t, err := f.take(ctx, o)
	if err != nil {
		return nil, nil, nil, err
	}
	chosen, err := t.choose(o.Executable)
	if err != nil {
		return nil, nil, nil, err
	}
	m := &maker{taker: t, p: chosen, binary: o.Binary, profile: pgo.New(pgo.Samples),
		images: map[int32]*image{}, locations: map[spot]known{}, dropped: map[string]int64{}}
	return m.make(ctx)
}

// take reads all records.
func (f *file) take(ctx context.Context, o Options) (*taker, error) {
	s, err := f.survey(ctx)
	if err != nil {
		return nil, err
	}
	t := &taker{survey: s, pid: o.PID, programs: map[int32]*program{}}
	if t.event, err = f.chooseEvent(o.Event); err != nil {
		return nil, err
	}
	return t, f.scan(ctx, t.record)
}

// chooseEvent returns the index of the event with the given name, or of the first event if
// name is "".
func (f *file) chooseEvent(name string) (int, error) {
	var names []string
	first := -1
	for i := range f.attrs {
		a := &f.attrs[i]
		if name != "" && a.name == name {
			return i, nil
		}
		if a.isDummy() {
			continue
		}
		if first < 0 {
			first = i
		}
		names = append(names, a.name)
	}
	switch {
	case first < 0:
		return 0, fmt.Errorf("reading %s: it has no event", f.path)
	case name != "":
		return 0, fmt.Errorf("reading %s: it has no event %q, but %s", f.path, name, strings.Join(names, ", "))
	case !f.attrs[first].isTime():
		return 0, fmt.Errorf("reading %s: its samples are of %s, which do not measure time. Choose an event by its name; it has: %s", f.path, names[0], strings.Join(names, ", "))
	}
	return first, nil
}

// choose returns the program with the given executable, or if that is "" the one with the
// most samples outside the kernel.
func (t *taker) choose(executable string) (*program, error) {
	var best *program
	for _, p := range t.sorted() {
		if p.object >= 0 && fits(t.spaces.objects[p.object].path, executable) {
			best = p
			break
		}
	}
	if best != nil {
		return best, nil
	}
	switch list := t.others(nil); {
	case executable != "" && list != "":
		return nil, fmt.Errorf("reading %s: no process of %q was sampled; sampled were: %s", t.f.path, executable, list)
	case t.otherPIDs > 0:
		return nil, fmt.Errorf("reading %s: process %d has no samples; others have %d", t.f.path, t.pid, t.otherPIDs)
	}
	return nil, fmt.Errorf("reading %s: no sample of %s is in a program", t.f.path, t.f.attrs[t.event].name)
}

// fits reports whether a path is the wanted one, or ends in it.
func fits(path, wanted string) bool {
	return wanted == "" || path == wanted || strings.HasSuffix(path, "/"+wanted)
}

// sorted returns the programs, the one with the most samples of its own code first.
func (t *taker) sorted() []*program {
	return slices.SortedFunc(maps.Values(t.programs), func(a, b *program) int {
		return cmp.Or(cmp.Compare(b.samples-b.kernel, a.samples-a.kernel), cmp.Compare(a.object, b.object))
	})
}

// others lists all programs except one with their samples.
func (t *taker) others(but *program) string {
	const most = 10
	var list []string
	for _, p := range t.sorted() {
		if p == but {
			continue
		}
		name := "processes of unknown executables"
		if p.object >= 0 {
			name = t.spaces.objects[p.object].path
		}
		list = append(list, fmt.Sprintf("%s (%d)", name, p.samples))
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

func (m *maker) make(ctx context.Context) (*pgo.Profile, *Branches, []string, error) {
	if im := m.image(m.p.object); im.why != "" {
		return nil, nil, nil, fmt.Errorf("reading %s: samples of the executable %s can't be named: %s. Give the recorded file as the binary", m.f.path, m.spaces.objects[m.p.object].path, im.why)
	}
	var b *Branches
	var err error
	if len(m.p.branches)+len(m.p.ranges) > 0 {
		b, err = m.branched(ctx)
	} else {
		err = m.sampled(ctx)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	for _, im := range m.images {
		m.profile.Prologues = m.profile.Prologues || im.why == "" && im.Prologues()
	}
	if d := m.p.last - m.p.first; d <= math.MaxInt64 { // otherwise the times are damaged
		m.profile.Duration = time.Duration(d)
	}
	m.profile.Comments = m.comments()
	return m.profile, b, m.notes(b), nil
}

// sampled makes the profile of samples and their callers.
func (m *maker) sampled(ctx context.Context) error {
	for _, s := range sortedLinks(m.p.stacks) {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := m.p.stacks[s]
		leaf := m.locate(s.a)
		if leaf.why != "" {
			m.dropped[leaf.why] += n
			continue
		}
		m.used += n
		if err := m.sample(s, leaf, n); err != nil {
			return fmt.Errorf("reading %s: %w", m.f.path, err)
		}
	}
	return nil
}

func (m *maker) sample(s link, leaf known, n int64) error {
	by := m.locate(s.b)
	switch lost := s.b != nowhere && m.images[s.a.object].Frameless(leaf.addr); {
	case s.b == nowhere || !lost && by.why != "":
		m.alone += n
		return m.profile.Add(leaf.location, nil, false, n)
	case lost || !m.images[s.b.object].Calls(by.addr+1, leaf.location[len(leaf.location)-1].Func):
		m.frameless += n
		return m.profile.AddLost(leaf.location, n)
	}
	return m.profile.Add(leaf.location, by.location, s.a == s.b, n)
}

func sortedLinks(all map[link]int64) []link {
	return slices.SortedFunc(maps.Keys(all), func(x, y link) int {
		return cmp.Or(x.a.compare(y.a), x.b.compare(y.b))
	})
}
