// Package heartbeat samples the values that a recording records of its own process once per
// interval: CPU time, memory, threads, garbage collection, limits. It is the only package that
// imports procfs.
//
// A field that could not be read is absent, never zero: a reader must be able to distinguish "no
// faults" from "faults unknown". Nothing is logged; the Sampler keeps the errors of the last
// beat.
//
// # Cost
//
// A beat must cost no more than 0.2 % of a CPU. Reading the threads is the only part that grows
// with the program: one small file per thread, some 4 µs each. Its CPU time is measured, and
// threads are read again only when a thousand times that has passed: up to some 250 threads at
// every beat of a second, 1,000 threads at every fourth. The beats in between have no thread
// fields.
package heartbeat

import (
	"errors"
	"fmt"
	"math"

	"github.com/scopeview/scopeview/internal/format"
)

// maxThreads is the number of threads that a beat lists individually; the rest are summed.
const maxThreads = 64

// Sampler takes heartbeats of the running process. It reuses its buffers, so a Sampler serves
// one goroutine at a time.
type Sampler struct {
	// MemoryLeft is the number of bytes that the memory limits left at the last beat, or at the
	// last call of Limits, or noLimit if there are no readable limits. Memory that the kernel can
	// reclaim counts as left.
	MemoryLeft int64
	// ThreadsLeft is the number of further threads that the cgroups' limits allowed at the last
	// call of Limits.
	ThreadsLeft int64
	// Available is the memory in bytes that was available for programs on the machine at the last
	// call of Limits; noLimit if unknown.
	Available int64
	// Own has the remainder of the process's own limits at that time.
	Own Own

	runtime runtimeReader
	process processReader
	errs    []error
}

// Own has the remainders of a process's own limits, in bytes.
type Own struct {
	Addresses int64 // RLIMIT_AS, ulimit -v
	Data      int64 // RLIMIT_DATA, ulimit -d
	Has       int64 // memory that is writable and private, touched or not
}

// Leaves reports whether the limits leave the process as much again as it has, after the given
// bytes of addresses and of data.
func (o *Own) Leaves(addresses, data int64) bool {
	return o.Addresses-addresses >= o.Has && o.Data-data >= o.Has
}

// New returns a sampler. It never fails: values that the system does not provide are absent from
// the samples.
func New() *Sampler {
	s := &Sampler{runtime: newRuntimeReader(), MemoryLeft: noLimit, ThreadsLeft: noLimit, Available: noLimit, Own: unlimited}
	s.process.init()
	return s
}

// Sample appends the current values to vs, and to ts the threads that were busiest since threads
// were last read. A beat that does not read the threads appends neither thread fields nor
// threads.
func (s *Sampler) Sample(vs []format.FieldValue, ts []format.Thread) ([]format.FieldValue, []format.Thread) {
	b := beat{values: vs, threads: ts, errs: s.errs[:0], left: noLimit, free: noLimit, own: unlimited}
	s.process.read(&b)
	s.runtime.read(&b)
	s.errs, s.MemoryLeft, s.Own = b.errs, b.left, b.own
	return b.values, b.threads
}

// Limits appends the limits of the process and its use of them to vs, for decisions before a
// recording begins. It does not count as a beat: the first beat after it has all fields, also
// those that are expensive to read and therefore read seldom.
func (s *Sampler) Limits(vs []format.FieldValue) []format.FieldValue {
	b := beat{values: vs, errs: s.errs[:0], left: noLimit, free: noLimit, available: noLimit, own: unlimited}
	s.process.readLimits(&b)
	s.errs, s.MemoryLeft, s.ThreadsLeft, s.Available, s.Own = b.errs, b.left, b.free, b.available, b.own
	return b.values
}

// noLimit is the value of an absent limit.
const noLimit = math.MaxInt64

var unlimited = Own{Addresses: noLimit, Data: noLimit}

// err returns the errors of the last beat joined, or nil if everything that this system provides
// was read.
func (s *Sampler) err() error { return errors.Join(s.errs...) }

// beat holds the values of one sample.
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
