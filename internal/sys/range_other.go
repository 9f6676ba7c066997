//go:build !linux

package sys

import "errors"

// Range is not available on this system: recording uses the heap.
type Range struct{}

// ErrNoMap means that files can't be mapped here.
var ErrNoMap = errors.New("mapping files is not supported")

func (r *Range) Size() int64                          { return 0 }
func (r *Range) Base() uintptr                        { return 0 }
func (r *Range) Map(fd int, off, at, n int64) error   { return ErrNoMap }
func (r *Range) VacateAll(int, int64, bool) error     { return ErrNoMap }
func (r *Range) Vacate(int, int64, int64, bool) error { return ErrNoMap }
func (r *Range) Bytes(off, n int64) []byte            { return nil }
func (r *Range) Words(off, n int64) []uint64          { return nil }
func (r *Range) Record(off int64) *[4]uint64          { return nil }
func (r *Range) Populate(off, n int64) error          { return ErrNoMap }
func (r *Range) Drop(off, n int64) error              { return ErrNoMap }
