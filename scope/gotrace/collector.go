//go:build !scope_off

package gotrace

import (
	"fmt"
	"runtime/trace"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/perf"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// shared is the state of the process, which has one running collector at most.
var shared struct {
	mu      sync.Mutex
	yields  [collect.Resources]yields
	running *collector // nil: none
}

// yields is the state of one resource.
type yields struct {
	n   int    // yields that were not released yet
	why string // the fact to record
}

func option(c config) scope.Option {
	return func(o *record.Options) { o.AddCollector(&collector{config: c}) }
}

func yield() func() {
	return yieldFor("off: yielded to the program (gotrace.Yield)", collect.ExecutionTrace, collect.FlightRecorder, collect.CPUProfile)
}

// yieldFor gives the listed resources back to the program. It takes no resource, not even one that
// has become free: Go starts goroutines for that, which would belong to the program's synctest
// bubble if it is in one.
func yieldFor(why string, list ...collect.Resource) (release func()) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, r := range list {
		y := &shared.yields[r]
		y.n++
		y.why = why
		if c := shared.running; c != nil {
			c.giveBack(r)
			c.yielded(r)
		}
	}
	return sync.OnceFunc(func() {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		for _, r := range list {
			shared.yields[r].n--
		}
	})
}

// taken implements collect.GiveBack.
func taken(r collect.Resource, by any) (release func()) {
	switch by := by.(type) {
	case *writer, *profile:
		return func() {}
	case *trace.FlightRecorder:
		if by == ownRecorder.Load() {
			return func() {}
		}
	}
	return yieldFor(takenByProgram[r], r)
}

// collector is a collect.Collector. Its methods hold shared.mu, because Yield and Snapshot may come
// from any goroutine.
type collector struct {
	config
	rec     collect.Recording
	streams uint32 // started so far
	trace   tracer // nil: not available
	profile *profile
	perf    *perf.Switches // nil: not available
	sampler *perf.Sampler  // nil: there is no counter
	heap    func(urgency)  // reads the heap profile; nil: not available
	last    map[string]string
	facts   int
	ended   int // how often the trace ended by itself
	pause   int // heartbeats to wait before the next try
	wait    int // value of pause for the next failure
	parts   parts
}

// tracer is the source of the execution trace: the live trace, or the flight recorder.
type tracer interface {
	// tick checks the source, once per heartbeat. It returns an error if the source has ended by
	// itself.
	tick() error
	// snapshot writes what is only in memory.
	snapshot() error
	// end gives the source back.
	end() error
	// spent returns its cost to the program so far, in ns.
	spent() int64
}

// Facts about the resources: "on", or "off: " and the reason.
const (
	factTrace   = "gotrace"
	factProfile = "gotrace_profile"
	factLacks   = "gotrace_profile_lacks" // what the profile does not sample
	factEnded   = "gotrace_ended"
)

// takenByProgram are the facts about resources that the program itself has.
var takenByProgram = [collect.Resources]string{
	collect.ExecutionTrace: "off: the program takes an execution trace itself",
	collect.FlightRecorder: "off: the program runs a flight recorder itself",
	collect.CPUProfile:     "off: the program takes a CPU profile itself",
}

// maxFacts limits the number of facts: in a ring, facts are never overwritten.
const maxFacts = 200

func (c *collector) Start(rec collect.Recording) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != nil {
		return // With was given twice
	}
	shared.running = c
	giveBack := taken
	collect.GiveBack.Store(&giveBack)
	divided := c.divided
	collect.Parts.Store(&divided)
	*c = collector{config: c.config, rec: rec, last: map[string]string{}, wait: 1}
	if c.noSwitches {
		c.record(perf.FactSwitches, "off: switched off by the program (gotrace.WithoutSwitches)")
	} else if p := new(perf.Switches); p.Start(rec) == nil { // else it has recorded the reason
		c.perf = p
	}
	names := perf.NewOwnNamer(rec)
	if len(c.counters) > 0 {
		list := make([]perf.Counter, len(c.counters))
		for i, k := range c.counters {
			list[i] = perf.Counter(k)
		}
		if s := new(perf.Sampler); s.Start(rec, names, list) {
			c.sampler = s
		}
	}
	if c.startHeap != nil {
		var err error
		if c.heap, err = c.startHeap(rec, names); err != nil {
			c.record(factHeap, "off: "+err.Error())
		}
	}
	c.take()
}

func (c *collector) Beat() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	if c.trace != nil {
		if err := c.trace.tick(); err != nil {
			c.parts.trace += time.Duration(c.trace.spent())
			c.trace = nil
			c.record(factTrace, "off: it ended, because "+err.Error())
			c.lose(err)
			c.pause, c.wait = c.wait-1, min(2*c.wait, 64)
		} else if c.pause--; c.pause < -10 {
			c.wait = 1 // it has worked long enough
		}
	}
	if c.profile != nil && !c.profile.tick() {
		c.endProfile()
	}
	if c.heap != nil {
		c.heap(forBeat)
	}
	c.take()
}

func (c *collector) Snapshot() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	if c.trace != nil {
		if err := c.trace.snapshot(); err != nil {
			c.lose(err)
		}
	}
	if c.perf != nil {
		c.perf.Snapshot()
	}
	if c.sampler != nil {
		c.sampler.Snapshot()
	}
	if c.heap != nil {
		c.heap(forSnapshot)
	}
}

func (c *collector) Stop() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.running != c {
		return
	}
	for r := range collect.Resources {
		c.giveBack(r)
	}
	if c.perf != nil {
		c.perf.Stop()
		c.perf = nil
	}
	if c.sampler != nil {
		c.sampler.Stop()
		c.sampler = nil
	}
	if c.heap != nil {
		c.heap(forStop)
		c.heap = nil
	}
	shared.running = nil
}

// traces returns the resource from which the execution trace is taken.
func (c *collector) traces() collect.Resource {
	if c.rec.Ring() > 0 {
		return collect.FlightRecorder
	}
	return collect.ExecutionTrace
}

// yielded reports whether the program holds r, and records that.
func (c *collector) yielded(r collect.Resource) bool {
	y := shared.yields[r]
	switch {
	case y.n == 0:
		return false
	case r == c.traces():
		c.record(factTrace, y.why)
	case r == collect.CPUProfile && !c.noProfile:
		c.record(factProfile, y.why)
	}
	return true
}

// take acquires the free resources that the collector does not have yet.
func (c *collector) take() {
	if why := unsafeTrace(); why != "" {
		c.record(factTrace, "off: "+why)
		c.record(factProfile, "off: its samples are kept in Go's execution trace, which is off")
		return
	}
	if !c.yielded(c.traces()) && c.trace == nil && !c.parts.noTrace {
		if c.pause--; c.pause < 0 {
			c.takeTrace()
		}
	}
	switch {
	case c.noProfile:
		c.record(factProfile, "off: switched off by the program (gotrace.WithoutProfile)")
	case c.yielded(collect.CPUProfile) || c.parts.noProfile:
	case c.profile == nil:
		var err error
		if c.profile, err = startProfile(); err != nil {
			c.record(factProfile, takenByProgram[collect.CPUProfile]+": "+err.Error())
			break
		}
		c.record(factProfile, "on")
		if without := lacks(); without != "" {
			c.record(factLacks, without)
		}
	}
}

func (c *collector) takeTrace() {
	var err error
	how := "on"
	if c.traces() == collect.FlightRecorder {
		how = "on (flight recorder)"
		c.trace, err = startFlight(c)
	} else {
		c.trace, err = startLive(c)
	}
	if err != nil {
		c.trace = nil
		c.record(factTrace, takenByProgram[c.traces()]+": "+err.Error())
		return
	}
	c.record(factTrace, how)
}

// giveBack releases r if the collector has it.
func (c *collector) giveBack(r collect.Resource) {
	switch {
	case r == collect.CPUProfile:
		c.endProfile()
	case r == c.traces():
		c.endTrace()
	}
}

func (c *collector) endProfile() {
	if c.profile != nil {
		c.parts.profile += c.profile.spent()
		c.profile.end()
		c.profile = nil
	}
}

func (c *collector) endTrace() {
	if c.trace == nil {
		return
	}
	if err := c.trace.end(); err != nil {
		c.lose(err)
	}
	c.parts.trace += time.Duration(c.trace.spent())
	c.trace = nil
}

// lose records that a stream ended too early.
func (c *collector) lose(why error) {
	if c.ended++; c.ended == 1 {
		c.record(factEnded, "once, because "+why.Error())
		return
	}
	c.record(factEnded, fmt.Sprintf("%d times, the last time because %v", c.ended, why))
}

// record records a fact unless it is unchanged.
func (c *collector) record(key, value string) {
	if c.last[key] == value || c.facts >= maxFacts {
		return
	}
	c.last[key] = value
	c.facts++
	c.rec.Fact(key, value)
}

// writer begins a new stream.
func (c *collector) writer() *writer {
	c.streams++
	return &writer{rec: c.rec, stream: c.streams}
}
