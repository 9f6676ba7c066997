package main

import (
	"math/rand/v2"
	"sync"
)

// shape is another way to have a problem: as people write it who never heard of the
// doctor. Locks are sync's where the shape does not say otherwise, goroutines are made
// with go, there is a scope or two, the recording has the default options, and there are
// more workers than processors. It has a knob, a twin and a checksum as a program has.
type shape struct {
	program
	problem string   // the verdict that is right
	also    []string // verdicts that name the same cause where a trace can't tell them apart
	knobs   []knob   // the settings that make doctor-check looks at
}

// knob is how strong a shape's problem is, and how many workers have it.
type knob struct {
	strength string
	workers  int
}

var (
	twice = []knob{{"1", 4}, {"0.6", 8}}
	once  = []knob{{"1", 8}}
)

// Why some have more than one right name:
//   - Of sync's locks only waits are known. What is done under one is not, so that a
//     critical section that is too fat, or blocks, shows as what it does to the others.
//   - A lock in demand has a convoy as soon as more goroutines want it than there are
//     processors. Both say which lock, and what it would bring if nobody waited.
//   - Who hands on what one at a time can work with waits at a channel.
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

// together runs f on so many goroutines, and waits for them.
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

// dice are numbers that are the same in each run.
func dice(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 99)) }

// inPart reports whether the n-th of many is in a part of them, of twenty parts.
func (o options) inPart(n int) bool { return n*7%20 < o.part(20) }
