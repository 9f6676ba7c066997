//go:build !(linux && (amd64 || arm64) && go1.26 && !go1.28) || scope_pure || scope_go || race

package sys

import (
	"errors"
	"sync/atomic"
)

// CPU selects how thread CPU time may be measured.
type CPU int

const (
	CPUAuto   CPU = iota // by rseq
	CPUOff               // not at all
	CPUAlways            // by rseq, else by the perf page
)

// Fast is the process's fast path, which this build lacks.
type Fast struct {
	Witness  uint32
	NoSwitch string
}

type layout struct{}

// Counts are the assembly's counts.
type Counts struct{ Records, Clamped, Foreign, Anchoring int64 }

// Left is the chunk that Install took from a P.
type Left struct {
	Addr, Used uintptr
	P          int64
}

// Reasons why the fast path did nothing.
const (
	Flushed = 3
	Stale   = 4
	Foreign = 5
	Ended   = 6
	Late    = 9
)

// NewFast returns an error: there is no fast path for this processor, Go
// version or build.
func NewFast() (*Fast, error) {
	return nil, errors.New("built for a processor, Go version or mode without the assembly path")
}

func (f *Fast) SetNames(table []NameEntry) {}

func BeginFast(head uint64, gen int64) (loc, start int64) { return 0, 0 }

func BeginExt(head uint64, gen int64, ext *uint64, units, at int64) (loc, start int64) { return 0, 0 }

func EndFast(loc, start, at int64, out *[2]uint64) int64 { return Stale }

func PutFast(rec *[4]uint64, gen int64, ext *uint64, units, count int64) (loc, at int64) {
	return 0, 0
}

func Claim(loc, start int64, out *[4]uint64) int64 { return Stale }

func Take(f *Func) int64 { return 0 }

func Lose(gen, why, need int64) bool { return false }

func NeedAnchor(reason int64) bool { return false }

func (f *Fast) Setup(base uintptr, size uint64, rate int64, cpu CPU) {}
func (f *Fast) Retire()                                              {}
func (f *Fast) Refused() string                                      { return "" }
func (f *Fast) Trigger(ticks int64)                                  {}
func (f *Fast) Losses(rows []uint64)                                 {}
func (f *Fast) Dry() *atomic.Uint32                                  { return nil }
func (f *Fast) Run(gen int64)                                        {}
func (f *Fast) States() []uint32                                     { return nil }
func (f *Fast) Count() (c Counts)                                    { return c }
func (f *Fast) Expire(addr, size uintptr)                            {}
func (f *Fast) Reclaim(a []uintptr, size uintptr, gen int64, seal func(addr, used uintptr) bool) {
}
func (f *Fast) Leave(gen int64, fn func(addr, used uintptr)) {}
func (f *Fast) Anchor() bool                                 { return false }
func (f *Fast) Tally()                                       {}
func (f *Fast) Tallies() [][]Tally                           { return nil }
func (f *Fast) Named(goid uint64)                            {}
func (f *Fast) Inherited(goid uint64) bool                   { return false }
func (f *Fast) Install(h *[8]uint64, addr, size uintptr, gen int64) (Left, bool) {
	return Left{}, false
}
