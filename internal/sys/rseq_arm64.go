//go:build linux && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import "golang.org/x/sys/unix"

// noWitness is the reason for not trying a switch witness on this processor. A witness that
// misses a switch counts time off the CPU as CPU time, and the kernel's handling
// of rseq's and the perf page's words at a switch has been verified on amd64
// only; an emulator has neither.
const noWitness = "no switch witness has been verified on arm64"

func (f *Fast) descriptor() error { return nil }

func (f *Fast) tryRseq(CPU) (uint64, string) { return witnessNone, noWitness }

func (f *Fast) rseqWord(*cell, uintptr) (page uintptr, errno int64) { return 0, -int64(unix.ENOSYS) }
