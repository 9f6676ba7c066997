package main

import (
	"math/rand/v2"
	"sync"
)

// shape is another form of a problem, as typical programs have it. Locks are sync's unless
// the shape states otherwise, goroutines are started with go, there are one or two scopes,
// the recording has the default options, and there are more workers than processors. Like a
// program it has a knob, a twin and a checksum.
type shape struct {
	program
	problem string   // the right verdict
	also    []string // verdicts for the same cause that a trace cannot distinguish
	knobs   []knob   // the settings that make doctor-check tests
}

// knob is the strength of a shape's problem, and the number of workers.
type knob struct {
	strength string
	workers  int
}

var (
	twice = []knob{{"1", 4}, {"0.6", 8}}
	once  = []knob{{"1", 8}}
)

// Reasons why some have more than one right verdict:
var shapes = []shape{
	{program{"lru", lruCache}, "lock-contention", []string{"convoy"}, twice},
	{program{"sessions", sessionStore}, "lock-contention", []string{"convoy"}, twice},
	{program{"registry", metricRegistry}, "lock-contention", []string{"convoy"}, twice},
	{program{"json-log", jsonLog}, "fat-critical-section", []string{"lock-contention", "convoy"}, twice},
	{program{"render", renderCache}, "fat-critical-section", nil, twice},
	{program{"bank", bank}, "convoy", []string{"lock-contention"}, once},
	{program{"audit", auditLog}, "blocking-under-lock", []string{"lock-contention", "convoy"}, twice},
	{program{"rpc", rpcClient}, "blocking-under-lock", nil, twice},

	{program{"ordered", orderedWriter}, "serialization", nil, twice},
	{program{"semaphore", semaphore}, "serialization", nil, twice},
	{program{"producer", producer}, "not-enough-parallelism", []string{"serialization"}, twice},
	{program{"frames", frames}, "not-enough-parallelism", nil, twice},
	{program{"hot-shard", hotShard}, "load-imbalance", nil, twice},
	{program{"giant-file", giantFile}, "load-imbalance", []string{"not-enough-parallelism"}, once},
	{program{"line-by-line", lineByLine}, "channel", nil, twice},
	{program{"flush", flushingCollector}, "channel", nil, twice},

	{program{"quicksort", quicksort}, "too-fine", nil, twice},
	{program{"rows", rows}, "too-fine", nil, once},
	{program{"threads", manyThreads}, "oversubscription", nil, once},
	{program{"polite", polite}, "oversubscription", nil, once},
	{program{"hits", hitCounter}, "work-inflation", nil, once},
	{program{"normalize", normalize}, "memory-bandwidth", nil, once},
	{program{"parse", parse}, "gc", nil, twice},
	{program{"concat", concat}, "gc", nil, once},
	{program{"barrier", spinBarrier}, "spinning", nil, once},
	{program{"poll", pollMailbox}, "spinning", nil, once},
	{program{"free-memory", freeMemory}, "page-faults", []string{"gc"}, once},
}

// together runs f on n goroutines, and waits for them.
func together(n int, f func(worker int)) {
	var running sync.WaitGroup
	for i := range n {
		running.Add(1)
		go func() {
			defer running.Done()
			f(i)
		}()
	}
	running.Wait()
}

// dice returns random numbers that are the same in each run.
func dice(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 99)) }

// inPart reports whether the n-th element is in a part of all, in units of a twentieth.
func (o options) inPart(n int) bool { return n*7%20 < o.part(20) }
