package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// Input is a trace to be merged.
type Input struct {
	Path string
	Name string                                      // its name in the merged trace; "": Path
	Open func(context.Context) (*trace.Trace, error) // opens it; nil: Path is opened
}

// Report describes a merged trace.
type Report struct {
	Processes  []format.Member // times are ticks: ns from the merged trace's start, and startTicks
	Same       [][2]string     // names of two inputs of one run; the first was left out
	Records    int64
	OtherNames int64 // records whose name exceeded the limit of names
	Pairs      int64 // pairs of scopes by which clocks were aligned
	Size       int64 // bytes
}

// ErrFew means that there are not at least two traces to merge.
var ErrFew = errors.New("merging needs two or more traces, or a directory with them")

// Files merges the traces to a new file, which it removes on an error. progress, if not nil, is
// called with the bytes of the inputs read so far.
func Files(ctx context.Context, inputs []Input, out string, progress func(done, of int64)) (r Report, err error) {
	f, err := newfile.Create(out)
	if err != nil {
		return r, fmt.Errorf("creating the merged trace: %w", err)
	}
	r, err = To(ctx, inputs, f, progress)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(out)
	}
	return r, err
}

// To is Files for a file that is open, and empty.
func To(ctx context.Context, inputs []Input, f *os.File, progress func(done, of int64)) (r Report, err error) {
	m := &merger{report: &r, progress: progress}
	defer m.close()
	if err := m.open(ctx, inputs); err != nil {
		return r, err
	}
	if err := m.align(ctx); err != nil {
		return r, err
	}
	if err := m.number(); err != nil {
		return r, err
	}
	m.w = tracefile.New(f, m.header())
	for _, in := range m.inputs {
		if err := m.convert(ctx, in); err != nil {
			return r, err
		}
	}
	if err := m.writeFacts(); err != nil {
		return r, err
	}
	r.Size = m.w.Close(m.end, &m.lost)
	return r, m.written()
}

// mostTime is the largest time of a clock, so that times can be added.
const mostTime = int64(1) << 61

// mostSpan is the longest timeline, 104 days in ns: JavaScript can't count further.
const mostSpan = int64(1) << 53

// merger is a run of Files.
type merger struct {
	report   *Report
	inputs   []*input
	w        *tracefile.Writer
	progress func(done, of int64)
	done, of int64 // bytes read, and bytes to read in all

	placed [format.MaxNames]bool // names whose place is written

	streams uint32 // Go execution traces written so far

	base int64 // ns since 1970 by the first input's machine: the merged trace's start
	end  int64 // ticks
	lost [format.CounterReasons + 1]int64
}

// written returns the first error of writing the merged trace, or nil.
func (m *merger) written() error {
	if m.w.Err != nil {
		return fmt.Errorf("writing the merged trace: %w", m.w.Err)
	}
	return nil
}

func (m *merger) close() {
	for _, in := range m.inputs {
		in.t.Close()
	}
}

// open opens the inputs, and of several of one run keeps the longest.
func (m *merger) open(ctx context.Context, inputs []Input) error {
	known := map[[16]byte]int{}
	for _, from := range inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if from.Open == nil {
			from.Open = func(ctx context.Context) (*trace.Trace, error) { return open.File(ctx, from.Path) }
		}
		t, err := from.Open(ctx)
		if err != nil {
			return err
		}
		name := cmp.Or(from.Name, from.Path)
		if h := t.Header(); !sane(h.StartWall) || !sane(h.StartMono) {
			t.Close()
			return fmt.Errorf("%s: its clocks are invalid: %d ns since 1970, %d ns since the machine started", name, h.StartWall, h.StartMono)
		}
		in := newInput(t, name)
		if len(t.Processes()) > 0 {
			t.Close()
			return fmt.Errorf("%s is a merged trace already: merge its original traces with the others", in.name)
		}
		i, twice := known[t.Header().ID]
		switch {
		case !twice:
			known[t.Header().ID] = len(m.inputs)
			m.inputs = append(m.inputs, in)
		case t.End() > m.inputs[i].t.End(): // a later snapshot has more
			m.report.Same = append(m.report.Same, [2]string{m.inputs[i].name, in.name})
			m.inputs[i].t.Close()
			m.inputs[i] = in
		default:
			m.report.Same = append(m.report.Same, [2]string{in.name, m.inputs[i].name})
			t.Close()
		}
	}
	switch {
	case len(m.inputs) < 2:
		return ErrFew
	case len(m.inputs) > format.MaxMembers:
		return fmt.Errorf("%d traces are too many to merge: at most %d", len(m.inputs), format.MaxMembers)
	}
	for i, in := range m.inputs {
		in.place = i
		m.of += in.t.Size()
	}
	return nil
}

// read calls f with the events of an input, with the CPU times as recorded or with all that are
// known, and reports progress.
func (m *merger) read(ctx context.Context, in *input, asRecorded bool, f func(e *trace.Event) error) error {
	size, end, n := in.t.Size(), max(in.t.End(), 1), 0
	var failed error
	err := in.t.Events(trace.Options{Detail: trace.Rowless, AsRecorded: asRecorded}, func(e *trace.Event) bool {
		if n++; n%(1<<20) == 0 {
			m.progressed(m.done + int64(float64(size)*min(float64(e.Start)/float64(end), 1)))
			if failed = ctx.Err(); failed != nil {
				return false
			}
		}
		failed = f(e)
		return failed == nil
	})
	m.done += size
	m.progressed(m.done)
	if err = cmp.Or(failed, err, ctx.Err()); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", in.name, err)
	}
	return err
}

func (m *merger) progressed(done int64) {
	if m.progress != nil {
		m.progress(done, m.of)
	}
}

// number assigns the processes' numbers: those without a parent among the inputs by time, each
// followed by its children.
func (m *merger) number() error {
	byTime := slices.SortedStableFunc(slices.Values(m.inputs), func(a, b *input) int { return cmp.Compare(a.start, b.start) })
	for _, in := range byTime {
		for _, p := range byTime { // the last one to start, if a process id was used twice
			if in.group == p.group && p.start < in.start && in.ppid != 0 && in.ppid == p.t.Header().PID {
				in.parent = p
			}
		}
	}
	ordered := m.inputs[:0:0]
	var below func(parent *input)
	below = func(parent *input) {
		for _, in := range byTime {
			if in.parent == parent {
				ordered = append(ordered, in)
				in.number = uint32(len(ordered))
				below(in)
			}
		}
	}
	below(nil)
	m.inputs = ordered
	m.base = byTime[0].start
	for _, in := range m.inputs {
		in.shift = shiftOf(len(m.inputs))
		in.base = m.base
		if in.start-m.base+in.t.End() > mostSpan {
			return fmt.Errorf("%s and %s are %d days apart by their clocks: a timeline covers at most %d", byTime[0].name, in.name, (in.start-m.base)/(24*3600*1e9), mostSpan/(24*3600*1e9))
		}
		m.end = max(m.end, in.at(in.t.End()))
	}
	m.end = max(m.end, startTicks)
	return nil
}
