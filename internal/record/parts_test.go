//go:build !scope_off

package record_test

import (
	"reflect"
	"sync"
	"unsafe"

	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// stateOf returns the state at the beginning of a Mutex or RWMutex.
func stateOf(l sync.Locker) *record.LockState {
	return (*record.LockState)(reflect.ValueOf(l).UnsafePointer())
}

// handleOf returns the handle in a Span.
func handleOf(s Span) record.Handle { return *(*record.Handle)(unsafe.Pointer(&s)) }

// retriesOf returns the record.Retries in a Retries.
func retriesOf(r *Retries) *record.Retries { return (*record.Retries)(unsafe.Pointer(r)) }

// scopeAt identifies a scope by its place and its start.
type scopeAt struct{ loc, start int64 }
