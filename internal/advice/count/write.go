package count

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/newfile"
	"github.com/scopeview/scopeview/internal/sys"
)

// Interval is the time between two writings of the raw file.
const Interval = time.Second

// writer writes the raw file.
type writer struct {
	params  params
	began   time.Time
	cpu     float64     // CPU time at the start
	live    []row.Stats // by row: statistics of live instances
	names   map[int]*named
	frames  frames
	heap    heap
	traffic *traffic // nil: no package is compiled for it
	quit    chan struct{}
	ends    sync.Once
	done    sync.WaitGroup
	err     error
}

// named is the key of a row as text.
type named struct {
	ours  bool // it belongs to the recorder
	typ   string
	stack []int
}

// lookLimit is the maximum number of bytes read in one writing to find the lengths of
// slices, and lookEach for one slice.
const (
	lookLimit = 64 << 20
	lookEach  = 4 << 20
)

func (w *writer) run() {
	defer w.done.Done()
	tick := time.NewTicker(Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.err = w.write()
			if w.params.asleep != nil && w.params.asleep() {
				w.ends.Do(func() { close(w.quit) })
				return
			}
		case <-w.quit:
			return
		}
	}
}

// write writes the file.
func (w *writer) write() error {
	c.now.Store(int64(time.Since(w.began)))
	w.gather()
	var rows []byte
	n := 0
	for i := range c.rows.sites {
		s := &c.rows.sites[i]
		if s.ready.Load() == 0 {
			continue
		}
		r := row.Row{Kind: s.kind}
		for v := range s.V {
			r.V[v] = row.Value(v).Merged(w.live[i].V[v], loadValue(&s.Stats, v))
		}
		for h := range s.H {
			for k := range s.H[h] {
				r.H[h][k] = w.live[i].H[h][k] + loadHist(&s.Stats, h, k)
			}
		}
		name := w.name(i, s)
		if name.ours || r.V == (row.Stats{}).V {
			continue
		}
		r.Type = name.typ
		rows = row.AppendRow(rows, &r, name.stack)
		n++
	}
	for _, r := range w.allocations() {
		rows = row.AppendRow(rows, &r.Row, r.stack)
		n++
	}
	b := row.AppendHead(nil, w.head())
	for i, text := range w.frames.text {
		b = row.AppendFrame(b, i, text)
	}
	b = row.AppendEnd(append(b, rows...), n)
	if err := newfile.Replace(w.params.Path, b); err != nil {
		return fmt.Errorf("writing the counts for advice: %w", err)
	}
	return nil
}

// gather sums up the live instances by row.
func (w *writer) gather() {
	for i := range c.rows.sites {
		if c.rows.sites[i].ready.Load() != 0 {
			w.live[i] = row.Stats{}
		}
	}
	read := int64(0)
	for _, t := range c.tables {
		if t == nil {
			continue
		}
		crowded := int(t.next.Load()) > len(t.entries)*7/8
		t.each(func(x *inst) bool {
			if x.site == 0 {
				return true
			}
			switch {
			case runtime.GOOS != "linux" || sys.Sanitized: // on other systems unused memory may not be mapped
			case t.kind == row.Slice && read < lookLimit:
				read += lookAt(x, lookEach)
			case t.kind == row.Map:
				lookAtMap(x)
			case t.kind == row.Chan:
				lookAtChan(x)
			}
			if crowded && c.now.Load()-x.born > int64(5*time.Second) {
				t.died(x, &c.rows)
				t.aged.Add(1)
				return true
			}
			t.fold(x, &w.live[x.site-1])
			return false
		})
	}
}

func (w *writer) head() *row.Head {
	h := &row.Head{Program: "?", Run: os.Getenv(Variable + "_RUN"), Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), NS: int64(time.Since(w.began)), CPU: int64(clock() - w.cpu), Looked: int64(w.looked(time.Since(w.began))),
		Params: w.params.named(), Lost: map[string]int64{}, Missing: missing}
	if info, ok := debug.ReadBuildInfo(); ok {
		h.Program = info.Path
		if strings.HasSuffix(info.Path, ".test") {
			h.Program = "tests of " + info.Main.Path
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" || s.Key == "vcs.modified" && s.Value == "true" {
				h.Build += s.Value + " "
			}
		}
	}
	lose := func(why string, n int64) {
		if n > 0 {
			h.Lost[why] = n
		}
	}
	lose("stacks", c.rows.full.Load())
	if m := w.traffic; m != nil {
		h.Noted, h.Memory = m.noted.Load(), m.all.Load()
		lose("lines", m.lines.lost.Load())
		lose("places", m.trails.lost.Load())
	}
	lose("rate", w.heap.unknown)
	for _, t := range c.tables {
		if t != nil {
			lose("full."+t.kind.String(), t.full.Load())
			lose("busy."+t.kind.String(), t.busy.Load())
			lose("aged."+t.kind.String(), t.aged.Load())
		}
	}
	return h
}

// typeName returns the type of a row's objects.
func (s *site) typeName() string {
	if typ := uintptr(s.typ.Load()); s.kind != row.Custom {
		return plain(sys.TypeName(typ))
	} else {
		return customName(typ)
	}
}

// name returns the key of a row as text.
func (w *writer) name(i int, s *site) *named {
	n := w.names[i]
	if n != nil {
		if n.typ == "" {
			n.typ = s.typeName() // a map's type is known once it grows, a list's once it has an element
		}
		return n
	}
	n = &named{typ: s.typeName()}
	w.names[i] = n
	var all []frame
	for _, pc := range s.pcs[:s.depth] {
		all = append(all, w.frames.of(uintptr(pc))...)
	}
	n.stack, n.ours = outside(all)
	if n.typ == "" && (s.kind == row.Search || s.kind == row.Shift) {
		n.typ = "T" // loads and copies have no type
		n.ours = n.ours || len(n.stack) > 0 && inSlices(w.frames.text[n.stack[0]])
	}
	return n
}

// current is the running writer; mu guards it.
var (
	mu      sync.Mutex
	current *writer
)

// ErrRunning is the error of a second start.
var ErrRunning = errors.New("counting for advice is already running")

// start starts counting.
func start(p params) error {
	mu.Lock()
	defer mu.Unlock()
	if current != nil {
		return ErrRunning
	}
	if dir := filepath.Dir(p.Path); dir != "." {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("creating the directory for advice: %w", err)
		}
	}
	if c.rates == nil {
		c.rates, c.skipped = new([Rates]uint8), new([1 << 16]uint8)
	}
	c.rows.depth, c.exact = p.Depth, p.Share >= 1
	c.scale.Store(unit)
	c.rows.init()
	for _, t := range [...]*table{
		{kind: row.Slice, fold: foldSlice}, {kind: row.Map, fold: foldMap}, {kind: row.List, fold: foldList}, {kind: row.Search, fold: foldSearch}, {kind: row.Sort, fold: foldSort},
		{kind: row.Chan, fold: foldChan}, {kind: row.RWMutex, fold: foldShared}, {kind: row.Mutex, fold: foldMutex}, {kind: row.SyncMap, fold: foldShared}, {kind: row.Goroutine, fold: foldGo}, {kind: row.Custom, fold: foldCustom}, {kind: row.Pool, fold: foldPool},
	} {
		t.init(p.Memory)
		c.tables[t.kind] = t
	}
	w := &writer{params: p, began: time.Now(), heap: heap{rate: samplingRate()}, quit: make(chan struct{}), names: map[int]*named{}}
	w.live = sys.OffHeap[row.Stats](w, maxSites)
	if err := w.write(); err != nil {
		return err
	}
	current = w
	for _, to := range reportHooks {
		*to = Report
	}
	on.Store(true)
	listenToCustoms()
	w.done.Add(2)
	go w.run()
	go w.look()
	if control != nil {
		w.traffic = new(traffic)
		w.traffic.init()
		w.done.Add(1)
		go w.lookAtMemory(w.traffic)
	}
	return nil
}

// Stop ends counting, and writes the file.
func Stop() error {
	mu.Lock()
	defer mu.Unlock()
	w := current
	if w == nil {
		return nil
	}
	current = nil
	w.ends.Do(func() { close(w.quit) })
	w.done.Wait()
	err := w.write()
	on.Store(false)
	return err
}
