package sys

import (
	"reflect"
	"unsafe"
)

// pointerType is the type descriptor of a pointer or a slice.
type pointerType struct {
	common [48]byte // internal/abi.Type
	elem   uintptr
}

// ElemType returns the element type of a pointer's or a slice's type.
func ElemType(typ uintptr) uintptr { return (*pointerType)(at(typ)).elem }

// kindAt is the offset of the kind in a type descriptor, kindBits is its mask in that byte.
const (
	kindAt   = 2*unsafe.Sizeof(uintptr(0)) + 7
	kindBits = 31
)

// TypeKind returns the kind of a type.
func TypeKind(typ uintptr) reflect.Kind {
	return reflect.Kind(*(*uint8)(at(typ + kindAt)) & kindBits)
}

// Hidden returns p hidden from escape analysis: what it points to may stay on the stack, although
// it is passed to an unknown function. That function must not keep it.
//
//go:nosplit
func Hidden[T any](p *T) *T { return (*T)(at(uintptr(unsafe.Pointer(p)))) }
