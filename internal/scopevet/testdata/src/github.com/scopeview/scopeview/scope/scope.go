// Package scope is what of the real one the analyzer looks at.
package scope

import (
	"context"
	"sync"
)

type Arg struct{ key string }

func KV(key string, value any) Arg { return Arg{key} }

func nop() {}

func Task(name string, args ...any) func()    { return nop }
func Taskf(format string, args ...any) func() { return nop }
func Process(name string, args ...any) func() { return nop }
func Pending(name string, args ...any) func() { return nop }
func Lock(l sync.Locker, name string) func()  { return nop }

type Span struct{}

func Begin(name string, args ...any) Span { return Span{} }
func (Span) End(args ...any)              {}

func Context(ctx context.Context, name string, args ...any) (context.Context, Span) {
	return ctx, Span{}
}

type Mutex struct {
	mu   sync.Mutex
	Name string
}

func (m *Mutex) Lock()   { m.mu.Lock() }
func (m *Mutex) Unlock() { m.mu.Unlock() }

type Retries struct{}

func Retry(name string) Retries { return Retries{} }
func (*Retries) Again()         {}
func (*Retries) Done()          {}

func Event(name string, args ...any) {}
func Stop() error                    { return nil }

// Here nothing is reported: the recorder's own tests misuse it on purpose.
func misuse() { Task("a") }
