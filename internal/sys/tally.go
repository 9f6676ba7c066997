//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The layouts of Func and Tally assumed by the assembly.
var (
	_ [0]struct{}  = [unsafe.Offsetof(Func{}.gen)]struct{}{}
	_ [8]struct{}  = [unsafe.Offsetof(Func{}.word)]struct{}{}
	_ [32]struct{} = [unsafe.Sizeof(Tally{})]struct{}{}
)

// Tally gives the caller's P a row of tallies, if it has none. Rows are outside the
// heap: of a row's 2 MiB, untouched pages take no memory.
func (f *Fast) Tally() {
	var p place
	where(&p)
	if p.m == 0 || p.p >= maxPs {
		return
	}
	f.rows.Lock()
	defer f.rows.Unlock()
	e := &entries[p.p]
	if e.tallies != 0 {
		return
	}
	row := f.rows.spare[int(p.p)]
	if row == nil {
		var err error
		if row, err = reserve[Tally](MaxFuncs); err != nil {
			return // the calls are counted in shared tallies
		}
		_ = unix.Madvise(rowBytes(row), unix.MADV_NOHUGEPAGE)
		if f.rows.spare == nil {
			f.rows.spare = map[int][]Tally{}
		}
		f.rows.spare[int(p.p)] = row
	}
	row[NoFunc].Deny()
	row[OtherFuncs].Deny()
	f.rows.used = append(f.rows.used[:len(f.rows.used):len(f.rows.used)], row)
	seeP(int64(p.p))
	atomic.StoreUintptr(&e.tallies, uintptr(unsafe.Pointer(&row[0])))
}

// Tallies returns the rows of the Ps: each has the functions' tallies by number.
func (f *Fast) Tallies() [][]Tally {
	f.rows.Lock()
	defer f.rows.Unlock()
	return f.rows.used
}

// clearTallies clears all rows, and takes them from the Ps.
func (f *Fast) clearTallies() {
	f.rows.Lock()
	defer f.rows.Unlock()
	f.rows.used = nil
	for _, row := range f.rows.spare {
		if unix.Madvise(rowBytes(row), unix.MADV_DONTNEED) != nil {
			clear(row)
		}
	}
}

func rowBytes(row []Tally) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&row[0])), uintptr(len(row))*unsafe.Sizeof(row[0]))
}
