// Package heartbeat samples what a recording tells once per interval about its
// own process: CPU time, memory, threads, garbage collection, limits. It is the
// only package that imports procfs.
//
// A field that could not be read is absent, never zero: a reader must be able
// to tell "no faults" from "faults unknown". Nothing is logged; the Sampler knows what
// was missing at the last beat and why.
//
// # Cost
//
// A beat must cost no more than 0.2 % of a CPU. Reading the threads is the only
// part that grows with the program: one small file per thread, some 4 µs each.
// Its CPU time is measured, and threads are read again only when a thousand
// times that has passed: up to some 250 threads at every beat of a second, 1,000
// threads at every fourth. The beats in between have no thread fields.
package heartbeat

import (
	"errors"
	"fmt"
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// maxThreads is the number of threads that a beat lists by themselves; the rest
// are summed.
const maxThreads = 64

// Sampler takes heartbeats of the running process. It reuses its buffers, so a
// Sampler serves one goroutine at a time.
type Sampler struct {
	// MemoryLeft is how many bytes the limits of memory left at the last beat, or when Limits
	// was called. It is noLimit where there are none, or none that can be read. What the
	// kernel can take back counts as left.
	MemoryLeft int64
	// ThreadsLeft is how many more threads the limits of cgroups allowed when Limits was called.
	ThreadsLeft int64
	// Available is how many bytes of memory the machine had for programs when Limits was called;
	// noLimit: that is not known.
	Available int64
	// Own is what the limits of the process itself left then, as the other three.
	Own Own

	runtime runtimeReader
	process processReader
	errs    []error
}

// Own is what a process's own limits leave, in bytes.
type Own struct {
	Addresses int64 // RLIMIT_AS, ulimit -v
	Data      int64 // RLIMIT_DATA, ulimit -d
	Has       int64 // memory that it may write to and that is its alone, touched or not
}

// Leaves reports whether the limits leave the process as much as it has, besides so many bytes
// of addresses and of data.
func (o *Own) Leaves(addresses, data int64) bool {
	return o.Addresses-addresses >= o.Has && o.Data-data >= o.Has
}

// New prepares a sampler. It never fails: what the system does not give is
// absent from the samples.
func New() *Sampler {
	s := &Sampler{runtime: newRuntimeReader(), MemoryLeft: noLimit, ThreadsLeft: noLimit, Available: noLimit, Own: unlimited}
	s.process.init()
	return s
}

// Sample appends the values of this moment to vs, and to ts the busiest threads
// since the threads were last read. The thread fields and ts stay as they are at
// a beat that leaves the threads out.
func (s *Sampler) Sample(vs []format.FieldValue, ts []format.Thread) ([]format.FieldValue, []format.Thread) {
	b := beat{values: vs, threads: ts, errs: s.errs[:0], left: noLimit, free: noLimit, own: unlimited}
	s.process.read(&b)
	s.runtime.read(&b)
	s.errs, s.MemoryLeft, s.Own = b.errs, b.left, b.own
	return b.values, b.threads
}

// Limits appends to vs what limits the process, and what it has of that: what a recording
// has to know before it begins. It is no beat: the first one after it is whole, as
// what is dear is read by the first who asks, and then seldom.
func (s *Sampler) Limits(vs []format.FieldValue) []format.FieldValue {
	b := beat{values: vs, errs: s.errs[:0], left: noLimit, free: noLimit, available: noLimit, own: unlimited}
	s.process.readLimits(&b)
	s.errs, s.MemoryLeft, s.ThreadsLeft, s.Available, s.Own = b.errs, b.left, b.free, b.available, b.own
	return b.values
}

// noLimit is what nothing limits.
const noLimit = math.MaxInt64

var unlimited = Own{Addresses: noLimit, Data: noLimit}

// err tells in one error what could not be read at the last beat; nil if
// everything that this system has was there.
func (s *Sampler) err() error { return errors.Join(s.errs...) }

// beat is what one sample has gathered so far.
type beat struct {
	values    []format.FieldValue
	threads   []format.Thread
	errs      []error
	left      int64 // of memory
	free      int64 // threads
	available int64 // of the machine's memory
	own       Own
}

func (b *beat) put(f format.Field, v int64) {
	b.values = append(b.values, format.FieldValue{Field: f, Value: v})
}

func (b *beat) fail(what string, err error) {
	b.errs = append(b.errs, fmt.Errorf("heartbeat: %s unknown: %w", what, err))
}
