//go:build scope_off

package scope

import (
	"context"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/format"
)

// With the tag scope_off, everything compiles to nothing. The doc comments are
// in the files of the other build.

// Number is the type of a Counter's value.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// Option changes how Start records.
type Option func(*options)

// Arg is a named argument; see KV.
type Arg struct{}

// Span is a scope begun by Begin.
type Span struct{}

type options struct{}

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

func WithFlushEvery(d time.Duration) Option                                 { return nil }
func WithHeartbeat(d time.Duration) Option                                  { return nil }
func WithLockThreshold(t LockThreshold) Option                              { return nil }
func WithCPU(m CPUMode) Option                                              { return nil }
func WithLimit(bytes int64) Option                                          { return nil }
func WithBuffer(bytes int64) Option                                         { return nil }
func WithRing(bytes int64) Option                                           { return nil }
func WithSegments(bytes int64, count int) Option                            { return nil }
func WithTrigger(globs string, longerThan time.Duration, dir string) Option { return nil }
func WithFilter(expr string) Option                                         { return nil }
func WithBacking(b BackingKind) Option                                      { return nil }
func WithOverwrite() Option                                                 { return nil }
func WithSampled() Option                                                   { return nil }

// Link is the position of a scope in a request.
type Link = format.Link

func Context(ctx context.Context, name string, args ...any) (context.Context, Span) {
	return ctx, Span{}
}
func LinkOf(ctx context.Context) (Link, bool)              { return Link{}, false }
func WithLink(ctx context.Context, l Link) context.Context { return ctx }
func ParseTraceparent(s string) (Link, bool)               { return format.ParseTraceparent(s) }
func ParseTracestate(headers []string) string              { return format.ParseTracestate(headers) }
