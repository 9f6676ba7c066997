//go:build scope_off

package scope

import (
	"sync"
	"time"
)

// Built with the tag scope_off, everything compiles to nothing. The doc
// comments are in the files of the other build.

// Number is what Counter takes.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// Arg is a named argument; see KV.
type Arg struct{}

// Span is a scope that Begin began.
type Span struct{}

// What options name of the recorder, which is not there.
type (
	recorder    struct{}
	watch       struct{}
	snapshotter func(r *recorder, path, why string) (string, error)
	segmenter   func(r *recorder)
	held        struct{}
)

func (r *recorder) briefLock(l sync.Locker, name string) (h held) { return }

func (r *recorder) endBrief(l sync.Locker, name, start int64) {}

func (r *recorder) snapshot(path, why string) (string, error) { return "", nil }

func (r *recorder) newSegments() {}

func (r *recorder) newRing() {}

func (r *recorder) collect(collecting) {}

func checkSegments(*options) error { return nil }

func newWatch(*options, func(time.Duration) int64) (*watch, error) { return nil, nil }

func nop() {}

func Start(path string, opts ...Option) error { return nil }
func Stop() error                             { return nil }
func Enabled() bool                           { return false }
func Path() string                            { return "" }
func Stats() Statistics                       { return Statistics{} }
func SetFilter(expr string) error             { return nil }
func Snapshot(path string) error              { return nil }
func Task(name string, args ...any) func()    { return nop }
func Process(name string, args ...any) func() { return nop }
func Taskf(format string, args ...any) func() { return nop }
func Pending(name string, args ...any) func() { return nop }
func Begin(name string, args ...any) Span     { return Span{} }
func (s Span) End(args ...any)                {}
func Event(name string, args ...any)          {}
func Counter[T Number](name string, v T)      {}
func Lock(l sync.Locker, name string) func()  { l.Lock(); return l.Unlock }
func Track(name string)                       {}
func Stack(name string, weight int64)         {}
func Go(name string, f func())                { go f() }
func KV(key string, value any) Arg            { return Arg{} }
