package sys

import (
	"reflect"
	"unsafe"
)

// rtype is how every type's description begins, which an any of it points to.
type rtype struct{ size uintptr }

// mapType is the description of a map's type: what is behind its common part.
type mapType struct {
	common [48]byte // internal/abi.Type
	key    *rtype
	elem   *rtype
}

// TypeSize is the size of values of a type by the address of its description.
func TypeSize(typ uintptr) int64 { return int64((*rtype)(at(typ)).size) }

// MapKeySize is the size of the keys of a map by its type.
func MapKeySize(typ uintptr) int64 { return int64((*mapType)(at(typ)).key.size) }

// MapElemSize is the size of the elements of a map by its type.
func MapElemSize(typ uintptr) int64 { return int64((*mapType)(at(typ)).elem.size) }

// TypeName is what a type is called, by the address of its description.
func TypeName(typ uintptr) string {
	if typ == 0 {
		return ""
	}
	var v any
	(*eface)(unsafe.Pointer(&v)).typ = typ
	return reflect.TypeOf(v).String()
}

// LoadWord reads the word at an address in Go's heap, or on a stack. The program may be writing it.
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

// LastUsed is where in the bytes from from to to at an address in Go's heap the last one lies that is
// not 0, as its offset and one: from, if there is none. The program may be writing them.
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

// at is an address as a pointer: of what the collector does not move, and who calls does not keep.
//
//go:nosplit
func at(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// TypeOf is the address of the description of a value's type.
func TypeOf(v any) uintptr { return (*eface)(unsafe.Pointer(&v)).typ }

// AddrOf is where a value lies.
func AddrOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
