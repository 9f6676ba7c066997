package sys

import (
	"reflect"
	"unsafe"
)

// pointerType is the description of a pointer's or a slice's type: what is behind its common part.
type pointerType struct {
	common [48]byte // internal/abi.Type
	elem   uintptr
}

// ElemType is the type that a pointer's type points to, or of which a slice's has elements.
func ElemType(typ uintptr) uintptr { return (*pointerType)(at(typ)).elem }

// kindAt is where a type's description has its kind, kindBits which bits of the byte.
const (
	kindAt   = 2*unsafe.Sizeof(uintptr(0)) + 7
	kindBits = 31
)

// TypeKind is the kind of a type.
func TypeKind(typ uintptr) reflect.Kind {
	return reflect.Kind(*(*uint8)(at(typ + kindAt)) & kindBits)
}

// Hidden is a pointer that the compiler does not follow: what it points to may stay on the stack, though
// it is passed to a function that nobody knows. That must not keep it.
//
//go:nosplit
func Hidden[T any](p *T) *T { return (*T)(at(uintptr(unsafe.Pointer(p)))) }
