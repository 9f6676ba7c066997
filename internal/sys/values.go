package sys

import "unsafe"

// StringAddr is where a string's bytes are.
func StringAddr(s string) uintptr { return uintptr(unsafe.Pointer(unsafe.StringData(s))) }

// eface is how the compiler lays out an any.
type eface struct {
	typ  uintptr
	data unsafe.Pointer
}

// Value reads the size bytes (1, 2, 4 or 8) of a number, bool or any other
// value that an any holds by address, as its type's kind has told. No method of
// the value is called, and the any does not escape.
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

// Text reads the string that an any whose kind is string holds.
func Text(v *any) string { return *(*string)((*eface)(unsafe.Pointer(v)).data) }

// Object is the address of the object that an any holds a pointer to.
func Object(v *any) uintptr { return uintptr((*eface)(unsafe.Pointer(v)).data) }

// EntryOf is where the code of a function without a context begins.
func EntryOf(f func()) uintptr { return **(**uintptr)(unsafe.Pointer(&f)) }
