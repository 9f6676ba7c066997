//go:build !scope_off

package record_test

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// stateOf is what a Mutex or RWMutex begins with.
func stateOf(l sync.Locker) *record.LockState {
	return (*record.LockState)(reflect.ValueOf(l).UnsafePointer())
}

// handleOf is what a Span is.
func handleOf(s Span) record.Handle { return *(*record.Handle)(unsafe.Pointer(&s)) }

// retriesOf is what Retries are.
func retriesOf(r *Retries) *record.Retries { return (*record.Retries)(unsafe.Pointer(r)) }

// scopeAt is a scope by its place and its begin.
type scopeAt struct{ loc, start int64 }
