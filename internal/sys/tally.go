//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the assembly takes for the layouts of Func and Tally.
var (
	_ [0]struct{}  = [unsafe.Offsetof(Func{}.gen)]struct{}{}
	_ [8]struct{}  = [unsafe.Offsetof(Func{}.word)]struct{}{}
	_ [32]struct{} = [unsafe.Sizeof(Tally{})]struct{}{}
)

// Tally gives the P that the caller is on a row of tallies, if it has none. Rows lie
// outside the heap: of one that is 2 MiB long, what is not touched costs nothing.
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
			return // calls are counted by all together
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

// Tallies are the rows that Ps have: of each the function's tally by its number.
func (f *Fast) Tallies() [][]Tally {
	f.rows.Lock()
	defer f.rows.Unlock()
	return f.rows.used
}

// clearTallies has all rows be zero, and nobody have one.
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
