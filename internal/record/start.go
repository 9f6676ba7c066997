//go:build !scope_off

package record

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/scopeview/scopeview/flusher"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/heartbeat"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/pool"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testpoint"
)

// control is held by Start, Stop and SetFilter.
var control sync.Mutex

// generation numbers the recordings of the process.
var generation int64

// Start begins a recording. See scope.Start.
func Start(path string, o Options) error {
	if err := start(&path, o); err != nil {
		return fmt.Errorf("starting %s: %w", path, err)
	}
	return nil
}

// start sets *path to the path of the created file.
func start(path *string, o Options) error {
	switch {
	case sys.Forked(): // before locking anything: in a forked child, the holder of a lock may not exist
		return ErrForked
	case inBubble():
		return ErrBubble
	}
	control.Lock()
	defer control.Unlock()
	running := atomic.LoadUint32(&sys.Live.On) != Off
	if running && (o.giveWay != nil || current.Load().opts.giveWay == nil) {
		return ErrRunning
	}
	filter, err := o.check()
	if err != nil {
		return err
	}
	f, err := createTrace(*path, o.Overwrite)
	if err != nil {
		return err
	}
	*path = f.Name()
	if running {
		old := current.Load()
		old.opts.giveWay(old)
	}
	r, err := newRecorder(*path, o, filter, f)
	if err != nil {
		removeTrace(f)
		return err
	}
	r.run()
	if running {
		r.note("the recording requested by the environment has ended: the program starts its own")
	}
	return nil
}

func newRecorder(path string, o Options, filter glob.Filter, f *traceFile) (*recorder, error) {
	generation++
	r := &recorder{
		gen:     generation,
		path:    path,
		file:    f.File,
		opts:    o,
		clock:   sys.NewClock(),
		goids:   sys.NewGoids(),
		sampler: heartbeat.New(),
		quit:    make(chan struct{}),
		trusted: true,
	}
	binary.LittleEndian.PutUint64(r.id[:], rand.Uint64())
	binary.LittleEndian.PutUint64(r.id[8:], rand.Uint64())
	if r.rate = rateOf(r.clock); r.rate == 0 {
		return nil, fmt.Errorf("the clock does not advance")
	}
	var err error
	if o.watch != nil {
		if r.watch, err = o.watch(&r.opts, r.ticks); err != nil {
			return nil, err
		}
	}
	r.filter, r.errand = filter, make(chan func(), 1)
	r.stacks.wake = make(chan struct{}, 1)
	r.expr.Store(&o.Filter)
	po := pool.Options{File: f.File}
	tight, err := r.limits(&po)
	if err != nil {
		return nil, err
	}
	w := r.choosePath()
	if tight != "" {
		w.backing = tight
	}
	if err := sys.Wipe(); err != nil {
		w.fork = err.Error()
	}
	if o.ring > 0 {
		o.keep.begin(r)
	}
	p, err := r.newPool(po, &w)
	if err != nil {
		return nil, noSpace(err)
	}
	r.pool = p
	r.losses = p.Words(0)[format.CountersOffset/8:]
	if r.fast != nil {
		r.writer, r.base = newFastWriter(r), int64(p.Base())
		w.cpu = r.fast.NoSwitch
	} else {
		r.gopath = newGoWriter(r)
		r.writer = r.gopath
		if r.gopath.simple() {
			r.plain = r.gopath
		}
	}
	first := r.clock.Read(8)
	r.began = first.Ticks
	testpoint.Here("start.pool")
	r.writeHeader(r.fileHeader(first))
	testpoint.Here("start.header")
	r.names = newNames(r.writer.useNames, filter, r.defineName, r.writeNamePlace)
	r.writeFacts(w)
	r.cost = scopeCost(r.clock, r.rate)
	r.beat(first)
	r.flusher = r.newFlusher()
	if p.Copies() { // make the file a valid trace at once
		if err := r.saveLive(false); err != nil {
			p.Shut()
			_ = p.Close() // or no other recording could be mapped
			r.closeHot(true, true)
			p.Discard()
			return nil, noSpace(err)
		}
	}
	return r, nil
}

// noSpace wraps an error that means lack of space in ErrNoSpace.
func noSpace(err error) error {
	if pool.IsNoSpace(err) {
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	}
	return err
}

func (r *recorder) newFlusher() *flusher.Flusher {
	cfg := flusher.Config{Pool: r.pool, Every: r.opts.FlushEvery, Round: r.round, Leave: r.leave}
	r.writer.configure(&cfg)
	if r.ring != nil {
		cfg.Reclaim = r.ring.reclaim
		if r.pool.Copies() && r.pool.Segments() == 0 { // segments would need another file
			cfg.Overwriting = r.ring.evicting(r.pool)
		}
	}
	return flusher.New(cfg)
}

// leave is called for a chunk in which no more records will begin.
func (r *recorder) leave(idx int64) {
	w := r.pool.Words(idx)
	if w == nil {
		return
	}
	atomic.StoreUint64(&w[format.ChunkFinalOffset/8], uint64(r.clock.Now()))
	// The flags share a word with the generation.
	atomic.OrUint64(&w[format.ChunkFlagsOffset/8], format.FlagFinal<<32)
	testpoint.Here("flush.final")
	if r.ring != nil {
		r.ring.left(idx, w)
	}
}

// run admits the recording goroutines and starts the recorder's.
func (r *recorder) run() {
	r.flusher.Start()
	r.ticker.Add(2)
	go r.beats()
	go r.errands()
	go r.adopt() // also without a hot file: old ones may have taken its room
	r.writeCollected(collectStart)
	current.Store(r)
	r.writer.enter()
	r.startLocks()
	reportHeap(true)
}

// Stop ends the recording. See scope.Stop.
func Stop() error {
	switch {
	case sys.Forked():
		return ErrStopped
	case inBubble():
		return ErrBubble
	}
	control.Lock()
	defer control.Unlock()
	if atomic.LoadUint32(&sys.Live.On) == Off {
		return ErrStopped
	}
	return current.Load().stop()
}

// stop ends the recording. control is held.
func (r *recorder) stop() error {
	atomic.StoreUint64(&sys.Live.Locking, 0)
	lookAtBlocks(false)
	reportHeap(false)
	atomic.StoreUint32(&sys.Live.On, Off)
	r.flusher.Cost.Round(func() {
		r.pool.ShutRecords()
		r.writer.leave()
	})
	testpoint.Here("stop.sealed")
	close(r.quit)
	r.ticker.Wait()
	r.writeCollected(collectStop)
	r.loseMany(format.LossStack, r.stacks.end())
	r.flusher.Stop()
	r.pool.Rest()
	r.sealUnborn()
	return r.finish()
}

// finish writes the end of the trace and closes it.
func (r *recorder) finish() error {
	r.beat(r.clock.Read(4))
	r.writeGaps(true)
	if r.ring != nil {
		r.ring.writeEnds()
	}
	testpoint.Here("stop.beat")
	r.block(format.BlockStop, ticksPayload(r.clock.Now()))
	testpoint.Here("stop.reported")
	r.shutBlocks()
	testpoint.Here("stop.shut")
	r.setState(true)
	testpoint.Here("stop.closed")
	r.final = r.stats()
	r.final.Running = false
	err := r.flusher.Err()
	var unsaved error
	if r.pool.Copies() {
		if unsaved = r.saveLive(true); unsaved != nil && r.hot == nil {
			r.giveUp(unsaved)
		}
	}
	if err == nil {
		err = unsaved
	}
	r.copying.Lock()
	r.shut = true
	r.copying.Unlock()
	r.endLosses()
	r.pool.Shut()
	still := r.pool.Close() // still mapped, if not nil
	if err == nil {
		err = still
	}
	sys.Unlock(r.file)
	if e := r.file.Close(); e != nil && err == nil {
		err = e
	}
	// If the hot file stays, nothing is lost, so Stop has not failed.
	if e := r.closeHot(unsaved == nil, still == nil); e != nil {
		r.final.LastError = e
	}
	if err != nil {
		r.final.LastError = err
	}
	r.closed.Store(true)
	if err != nil {
		return fmt.Errorf("stopping %s: %w", r.path, err)
	}
	return nil
}

// Path returns the path of the trace that is being written, or of the last one.
func Path() string {
	if r := current.Load(); r != nil {
		return r.path
	}
	return ""
}

// SetFilter sets the filter. See scope.SetFilter.
func SetFilter(expr string) error {
	if sys.Forked() {
		return ErrStopped
	}
	control.Lock()
	defer control.Unlock()
	if atomic.LoadUint32(&sys.Live.On) == Off {
		return ErrStopped
	}
	f, err := glob.Parse(expr)
	if err != nil {
		return fmt.Errorf("scope: %w", err)
	}
	current.Load().setFilter(f, expr)
	return nil
}

// giveWay ends the recording, and removes its trace, because another one replaces it. control
// is held.
func (r *recorder) giveWay() {
	_ = r.stop() // errors do not matter: the trace is removed
	_ = os.Remove(r.path)
	hot.Discard(r.id, format.FileID{})
}

// StopGivingWay ends the recording if it is one that gives way to others, and returns its
// trace's path; empty if there is none. ended, if not empty, is recorded as the way in which
// the program ends.
func StopGivingWay(ended string) (path string, err error) {
	if sys.Forked() {
		return "", ErrStopped
	}
	control.Lock()
	defer control.Unlock()
	r := current.Load()
	if atomic.LoadUint32(&sys.Live.On) == Off || r.opts.giveWay == nil {
		return "", nil
	}
	r.fact("ended", ended)
	return r.path, r.stop()
}

// inBubble reports whether the caller is in a bubble of testing/synctest. Channels and
// goroutines created there belong to the bubble: another goroutine that sends on such
// a channel would be a fatal error, our tickers would follow the bubble's clock, and
// the bubble would never end, because our goroutines don't. Its clock is useless too:
// it begins in the year 2000. No function reports this, but the first line of a stack
// dump does.
//
// Recording in a bubble creates nothing, and need not check.
func inBubble() bool { return strings.Contains(goroutineHead(), "synctest bubble") }

// goroutineHead returns the line that the runtime prints above the caller's stack.
func goroutineHead() string {
	var buf [128]byte
	head, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "\n")
	return head
}
