package timeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/trace"
)

// Samples are the samples and the waits of a trace with their stacks, as columns:
//
//   - funcOwn (b): a function is the program's own, and not the standard library's
//   - frameFunc, frameFile (u, indexes of Funcs and Files), frameLine (u; 0: not known)
//   - stackUp (u, the stack without its leaf), stackFrame (u, its leaf)
//   - inUp (u, the scope around), inName (u), inSlow (b): executions of scopes
//   - at (d, begin), over (u, ns until the last one ended), goid, metric (u), more
//     (z, the value minus over: 0 for a wait), stack, in (u, the innermost scope)
//
// The first function, file, frame, stack and scope is none. Outer stacks and scopes come
// before inner ones, samples by time.
type Samples struct {
	Metrics []sampleMetric `json:"metrics"`
	Preset  string         `json:"preset"`
	Funcs   []string       `json:"funcs"`
	Files   []string       `json:"files"` // without directories, which may be private
	// Slow has, for each scope with samples, its name, its number of executions, the number
	// of slow ones, and their minimum duration in ns.
	Slow [][4]int64 `json:"slow"`
	// Res is the ns within which samples of one stack, goroutine and scope are merged; 0: not
	// merged.
	Res     int64     `json:"res,omitempty"`
	Notes   []string  `json:"notes"`
	Sources []excerpt `json:"sources,omitempty"`
	Calls   []hotCall `json:"calls,omitempty"` // hot calls in the compiler's output
	columns []*column
	files   []string // with their directories
}

// excerpt is a part of a source file.
type excerpt struct {
	File  int      `json:"file"` // index of Samples.Files
	From  int      `json:"from"` // number of its first line
	Lines []string `json:"lines"`
	// Code has the numbers of lines with instructions; nil: not known.
	Code []int `json:"code,omitempty"`
}

// AddSource adds the text of a part of a source file, by its name in frames.
func (s *Samples) AddSource(file string, from int, lines []string, code []int) {
	if i := slices.Index(s.files, file); i > 0 {
		s.Sources = append(s.Sources, excerpt{i, from, lines, code})
	}
}

// hotCall is the compiler's treatment of a call.
type hotCall struct {
	From string `json:"from"` // functions
	To   string `json:"to"`
	File int    `json:"file,omitempty"` // index of Samples.Files; 0: not known
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// AddCall adds the compiler's treatment of a call in a function that has samples; file is
// the name in frames.
func (s *Samples) AddCall(caller, callee, file string, line int, text string) {
	if slices.Contains(s.Funcs, caller) {
		s.Calls = append(s.Calls, hotCall{caller, callee, max(0, slices.Index(s.files, file)), line, text})
	}
}

// sampleMetric is a samples.Metric.
type sampleMetric struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Unit    string `json:"unit"`
	Sampled bool   `json:"sampled,omitempty"`
	Of      []int  `json:"of,omitempty"`
}

// LoadSamples reads the samples of the selected part of a trace; nil: it has none. If there
// are more than most, samples near each other are merged. with are further handlers for the
// reading of the Go execution trace.
func LoadSamples(ctx context.Context, t *trace.Trace, of analysis.Selection, most int, with ...states.Handler) (*Samples, *samples.Profile, error) {
	g := newGatherer(most)
	of.Progress = nil
	p, err := samples.OfTrace(ctx, t, &samples.Selection{
		Selection: &of, Imputed: true, Split: samples.Split{Scope: true}, Enclosing: true,
		Each: g.add, With: with,
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(err, samples.ErrNone):
		return nil, nil, nil
	case err != nil:
		return &Samples{Notes: []string{"The samples could not be read: " + err.Error() + "."}}, nil, nil
	case g.list.n == 0:
		return nil, p, nil
	}
	return g.pack(p), p, nil
}

// gathered is one or more samples of one stack.
type gathered struct {
	at, end, value int64
	goid           uint64
	stack, in      uint32
	metric         uint16
}

// gatheredList is a list that grows without being copied: copying took more than twice its
// memory.
type gatheredList struct {
	blocks [][]gathered // of gatheredBlock each
	n      int
}

const gatheredBlock = 1024

func (l *gatheredList) at(i int) *gathered { return &l.blocks[i/gatheredBlock][i%gatheredBlock] }

func (l *gatheredList) add(x gathered) {
	if l.n == len(l.blocks)*gatheredBlock {
		l.blocks = append(l.blocks, make([]gathered, gatheredBlock))
	}
	*l.at(l.n) = x
	l.n++
}

// again calls f with each element of an emptied list, to which f may add elements again.
func (l *gatheredList) again(f func(gathered)) {
	n := l.n
	l.n = 0 // it never passes the position being read
	for i := range n {
		f(*l.at(i))
	}
}

// gatherer makes columns of samples.
type gatherer struct {
	most   int
	res    int64
	list   gatheredList
	newest map[gathered]int // index of the last one, by the common fields

	funcs, files numbers[string]
	frames       numbers[[3]uint32] // function, file, line
	stacks       numbers[[2]uint32] // the stack without its leaf; the leaf
	scopes       numbers[inScope]
	known        map[[2]uint32]uint32
}

// inScope is a scope within others.
type inScope struct {
	up uint32
	samples.Scope
}

// anyNumber is the limit for values that memory bounds already.
const anyNumber = math.MaxInt32

func newGatherer(most int) *gatherer {
	g := &gatherer{most: most, newest: map[gathered]int{}, known: map[[2]uint32]uint32{}}
	g.scopes.of(inScope{}, anyNumber) // there may be no other one
	return g
}

func (g *gatherer) add(s *samples.Sample) {
	stack, ok := g.known[s.Stack]
	if !ok {
		for _, f := range slices.Backward(s.Frames) {
			frame := g.frames.of([3]uint32{g.funcs.of(f.Func, anyNumber), g.files.of(f.File, anyNumber), uint32(max(f.Line, 0))}, anyNumber)
			stack = g.stacks.of([2]uint32{stack, frame}, anyNumber)
		}
		g.known[s.Stack] = stack
	}
	in := uint32(0)
	for _, scope := range s.Scopes {
		in = g.scopes.of(inScope{in, scope}, anyNumber)
	}
	g.put(gathered{s.Time, s.Time + s.Dur, s.Value, s.Labels.Goid, stack, in, s.Metric})
	for g.most > 0 && g.list.n > g.most && g.res < coarsestSamples {
		g.coarsen()
	}
}

// put adds samples, or merges them with earlier ones.
func (g *gatherer) put(x gathered) {
	if g.res > 0 && x.end-x.at < g.res {
		common := gathered{at: x.at / g.res, goid: x.goid, stack: x.stack, in: x.in, metric: x.metric}
		if k, ok := g.newest[common]; ok {
			had := g.list.at(k)
			had.at, had.end, had.value = min(had.at, x.at), max(had.end, x.end), had.value+x.value
			return
		}
		g.newest[common] = g.list.n
	}
	g.list.add(x)
}

// coarsestSamples is a resolution at which time hardly distinguishes samples.
const coarsestSamples = 1 << 42

// coarsen reduces the number of samples.
func (g *gatherer) coarsen() {
	for g.res < coarsestSamples && g.list.n > g.most/2 {
		g.res = max(2*g.res, 1<<10)
		clear(g.newest)
		g.list.again(g.put)
	}
}

// pack makes the columns.
func (g *gatherer) pack(p *samples.Profile) *Samples {
	s := &Samples{Preset: p.Preset, Funcs: g.funcs.list, Res: g.res, files: g.files.list, Notes: append([]string{}, p.Notes...), Slow: [][4]int64{}}
	g.packMetrics(s, p.Metrics)
	for _, f := range g.files.list {
		if f != "" {
			f = path.Base(strings.ReplaceAll(f, `\`, "/"))
		}
		s.Files = append(s.Files, f)
	}
	if g.res > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("There are too many samples: those of one stack within %s are one. All sums are exact, except at the edges of the selection.", show.Duration(g.res)))
	}
	var col [9]column
	c := func(i int) *column { return &col[i] }
	for _, f := range g.funcs.list {
		c(8).b(asByte(samples.Own(f)))
	}
	for _, f := range g.frames.list {
		c(0).u(uint64(f[0]))
		c(1).u(uint64(f[1]))
		c(2).u(uint64(f[2]))
	}
	for _, x := range g.stacks.list {
		c(3).u(uint64(x[0]))
		c(4).u(uint64(x[1]))
	}
	named := map[uint16]bool{}
	for i, x := range g.scopes.list {
		c(5).u(uint64(x.up))
		c(6).u(uint64(x.Name))
		c(7).b(asByte(x.Slow))
		if e := p.ByScope[x.Name]; i > 0 && !named[x.Name] {
			named[x.Name] = true
			s.Slow = append(s.Slow, [4]int64{int64(x.Name), e.Slow + e.Rest, e.Slow, e.Limit})
		}
	}
	s.columns = namedColumns(col[:], "frameFunc:u frameFile:u frameLine:u stackUp:u stackFrame:u inUp:u inName:u inSlow:b funcOwn:b")
	s.columns = append(s.columns, g.packList()...)
	return s
}

// packMetrics copies the metrics except levels: the page adds up what it selects.
func (g *gatherer) packMetrics(s *Samples, list []samples.Metric) {
	place := make([]int, len(list))
	for i, m := range list {
		if m.Level {
			continue
		}
		var of []int
		for _, k := range m.Of {
			of = append(of, place[k])
		}
		place[i] = len(s.Metrics)
		s.Metrics = append(s.Metrics, sampleMetric{m.Name, m.Title, string(m.Unit), m.Sampled, of})
	}
	g.list.again(func(x gathered) {
		if !list[x.metric].Level {
			x.metric = uint16(place[x.metric])
			g.list.add(x)
		}
	})
}

func asByte(on bool) byte {
	if on {
		return 1
	}
	return 0
}

func namedColumns(list []column, names string) []*column {
	var all []*column
	for i := range list {
		all = append(all, &list[i])
	}
	return named(names, all...)
}

// packList makes the columns of the samples themselves, by time.
func (g *gatherer) packList() []*column {
	order := make([]int32, g.list.n)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(g.list.at(int(a)).at, g.list.at(int(b)).at), cmp.Compare(a, b))
	})
	var col [7]column
	for _, i := range order {
		x := g.list.at(int(i))
		col[0].d(x.at)
		col[1].u(uint64(max(x.end-x.at, 0)))
		col[2].u(x.goid)
		col[3].u(uint64(x.metric))
		col[4].z(x.value - max(x.end-x.at, 0))
		col[5].u(uint64(x.stack))
		col[6].u(uint64(x.in))
	}
	return namedColumns(col[:], "at:d over:u goid:u metric:u more:z stack:u in:u")
}
