package sys

import "unsafe"

// StringAddr returns the address of a string's bytes.
func StringAddr(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }

// eface is the compiler's layout of an any.
type eface struct {
	typ  uintptr
	data unsafe.Pointer
}

// Value reads the size bytes (1, 2, 4 or 8) of a number, bool or any other
// value that an any holds by address; the caller knows the size from its type's
// kind. No method of the value is called, and the any does not escape.
func Value(v *any, size uintptr) uint64 {
	p := (*eface)(unsafe.Pointer(v)).data
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// Text returns the string in an any whose kind is string.
func Text(v *any) string { return *(*string)((*eface)(unsafe.Pointer(v)).data) }

// Object returns the address of the object to which the pointer in an any
// points.
func Object(v *any) uintptr { return uintptr((*eface)(unsafe.Pointer(v)).data) }

// EntryOf returns the entry of a function without a context.
func EntryOf(f func()) uintptr { return **(**uintptr)(unsafe.Pointer(&f)) }
