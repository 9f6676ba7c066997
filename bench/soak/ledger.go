//go:build linux

package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ledger is the writer's report to its parent while it records, in memory that both
// share and that survives the writer. A step is stored after its call has returned, so
// the trace must have every step that is in the ledger, whenever the writer is killed.
type ledger struct {
	recording atomic.Bool // Start has returned
	stop      atomic.Bool // set by the parent: the writer must end

	workers [workers]account
	batches [batchesKept]batch
	batched atomic.Uint64 // batches that have ended

	// Ends that found no place, at the last poll of each worker's steps.
	lostEnds atomic.Int64
	polled   [workers]atomic.Uint64

	// After Stop.
	issued, recorded, overwritten, lost atomic.Int64
	lostWindow, snapshots               atomic.Int64
	behind                              atomic.Int64 // records not issued in time, because the machine was busy
}

const (
	workers     = 2
	remembered  = 1 << 19 // steps of each worker
	timesKept   = 1 << 15
	batchesKept = 1 << 10
	foreignEach = 1024 // each so many steps one is ended by another goroutine
	mixedEach   = 8    // and one has another scope, with arguments of all sorts
)

// account is the account of one worker. Its steps are numbered from 0 on.
type account struct {
	begun atomic.Uint64 // steps, or one more than there are
	ended atomic.Uint64 // their ends have returned
	fate  [remembered]atomic.Uint64
	times [timesKept]moments
	every uint64 // the times of one step in every are stored
}

// The fate of step n, at n modulo remembered: n<<2, whether it was recorded, and
// whether ends were lost while it ended.
const (
	keptBit   = 1
	unsureBit = 2
)

func (a *account) kept(n uint64) bool   { return a.fate[n%remembered].Load()&^unsureBit == n<<2|keptBit }
func (a *account) unsure(n uint64) bool { return a.fate[n%remembered].Load()&unsureBit != 0 }

// moments are the times between which a step began and ended, in ns of the monotonic clock.
type moments struct {
	n              atomic.Uint64 // the step's number and 1, stored last; 0 while the rest is
	t0, t1, t2, t3 int64
}

// batch is a scope that is longer than a ring lasts.
type batch struct {
	moments
	kept, unsure bool
}

func (m *moments) store(n uint64, t0, t1, t2, t3 int64) {
	m.n.Store(0)
	m.t0, m.t1, m.t2, m.t3 = t0, t1, t2, t3
	m.n.Store(n + 1)
}

// newLedger returns a ledger, and the file for a child.
func newLedger() (*ledger, *os.File, error) {
	fd, err := unix.MemfdCreate("soak", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, fmt.Errorf("no memory to share: %w", err)
	}
	f := os.NewFile(uintptr(fd), "ledger")
	if err := f.Truncate(int64(unsafe.Sizeof(ledger{}))); err != nil {
		f.Close()
		return nil, nil, err
	}
	l, err := mapLedger(f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return l, f, nil
}

func mapLedger(f *os.File) (*ledger, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(ledger{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("the shared memory can't be mapped: %w", err)
	}
	return (*ledger)(unsafe.Pointer(unsafe.SliceData(b))), nil
}

func (l *ledger) unmap() {
	_ = unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(l)), unsafe.Sizeof(ledger{})))
}

// monotonic reads the system's monotonic clock, which both processes share, as fast as
// package time.
type monotonic struct {
	base time.Time
	at   int64 // of base
}

// newMonotonic compares both clocks; the closest of some readings counts.
func newMonotonic() monotonic {
	m := monotonic{base: time.Now()}
	best := int64(1 << 62)
	for range 200 {
		before := clockNS()
		d := int64(time.Since(m.base))
		if took := clockNS() - before; took < best {
			best, m.at = took, before+took/2-d
		}
	}
	return m
}

func (m *monotonic) now() int64 { return m.at + int64(time.Since(m.base)) }

func clockNS() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
