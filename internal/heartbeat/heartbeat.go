// Package heartbeat samples what a recording tells once per interval about its
// own process: CPU time, memory, threads, garbage collection, limits. It is the
// only package that imports procfs.
//
// A field that could not be read is absent, never zero: a reader must be able
// to tell "no faults" from "faults unknown". Nothing is logged; Err says what
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

	"github.com/scopeview/scopeview/internal/format"
)

// MaxThreads is the number of threads that a beat lists by themselves; the rest
// are summed.
const MaxThreads = 64

// Sampler takes heartbeats of the running process. It reuses its buffers, so a
// Sampler serves one goroutine at a time.
type Sampler struct {
	runtime runtimeReader
	process processReader
	errs    []error
}

// New prepares a sampler. It never fails: what the system does not give is
// absent from the samples.
func New() *Sampler {
	s := &Sampler{runtime: newRuntimeReader()}
	s.process.init()
	return s
}

// Sample appends the values of this moment to vs, and to ts the busiest threads
// since the threads were last read. The thread fields and ts stay as they are at
// a beat that leaves the threads out.
func (s *Sampler) Sample(vs []format.FieldValue, ts []format.Thread) ([]format.FieldValue, []format.Thread) {
	b := beat{values: vs, threads: ts, errs: s.errs[:0]}
	s.process.read(&b)
	s.runtime.read(&b)
	s.errs = b.errs
	return b.values, b.threads
}

// Err tells in one error what could not be read at the last beat; nil if
// everything that this system has was there.
func (s *Sampler) Err() error { return errors.Join(s.errs...) }

// beat is what one sample has gathered so far.
type beat struct {
	values  []format.FieldValue
	threads []format.Thread
	errs    []error
}

func (b *beat) put(f format.Field, v int64) {
	b.values = append(b.values, format.FieldValue{Field: f, Value: v})
}

func (b *beat) fail(what string, err error) {
	b.errs = append(b.errs, fmt.Errorf("heartbeat: %s unknown: %w", what, err))
}
