package sys

import (
	"reflect"
	"unsafe"
)

// rtype is the beginning of every type descriptor, to which an any of the type points.
type rtype struct{ size uintptr }

// mapType is a map's type descriptor.
type mapType struct {
	common [48]byte // internal/abi.Type
	key    *rtype
	elem   *rtype
}

// TypeSize returns the size of a type's values, given the address of its descriptor.
func TypeSize(typ uintptr) int64 { return int64((*rtype)(at(typ)).size) }

// MapKeySize returns the size of a map's keys, given its type.
func MapKeySize(typ uintptr) int64 { return int64((*mapType)(at(typ)).key.size) }

// MapElemSize returns the size of a map's elements, given its type.
func MapElemSize(typ uintptr) int64 { return int64((*mapType)(at(typ)).elem.size) }

// TypeName returns a type's name, given the address of its descriptor.
func TypeName(typ uintptr) string {
	if typ == 0 {
		return ""
	}
	var v any
	(*eface)(unsafe.Pointer(&v)).typ = typ
	return reflect.TypeOf(v).String()
}

// LoadWord reads the word at an address in Go's heap, or on a stack, which the program may be
// writing.
//
//go:norace
//go:nocheckptr
func LoadWord(addr uintptr) uint64 { return *(*uint64)(at(addr)) }

// LoadPointer reads a word of a pointer's size, as LoadWord does.
//
//go:norace
//go:nocheckptr
func LoadPointer(addr uintptr) uintptr { return *(*uintptr)(at(addr)) }

// LoadUint16 reads two bytes, as LoadWord does.
//
//go:norace
//go:nocheckptr
func LoadUint16(addr uintptr) uint16 { return *(*uint16)(at(addr)) }

// LastUsed returns the end, as an offset from addr, of the nonzero bytes between the offsets from
// and to at an address in Go's heap, or from if all are zero. The program may be writing them.
//
//go:norace
//go:nocheckptr
func LastUsed(addr uintptr, from, to int64) int64 {
	for to > from && (to&7 != 0 || to-8 < from) {
		if *(*byte)(at(addr + uintptr(to-1))) != 0 {
			return to
		}
		to--
	}
	for to-8 >= from && *(*uint64)(at(addr + uintptr(to-8))) == 0 {
		to -= 8
	}
	for to > from && *(*byte)(at(addr + uintptr(to-1))) == 0 {
		to--
	}
	return to
}

// at converts an address to a pointer. The collector must not move what is there, and callers must
// not keep the pointer.
//
//go:nosplit
func at(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// TypeOf returns the address of the type descriptor of a value.
func TypeOf(v any) uintptr { return (*eface)(unsafe.Pointer(&v)).typ }

// AddrOf returns the address of a value.
func AddrOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
