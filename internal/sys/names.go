package sys

// NameEntry is an entry of the table of names; see Fast.SetNames. A name's index
// in the table is NameSlot of its address.
type NameEntry struct {
	Addr uintptr // stored last; 0: free
	Len  uint64  // with NameOut if the name is filtered out
	Head uint64  // the name's id, as in a record's word 2
	_    uint64
}

// NameOut in NameEntry.Len means that the name is not recorded.
const NameOut = 1 << 63

// NameSlot returns the index of a name in a table whose size is a power of two.
func NameSlot(addr uintptr, size int) int { return int(addr) & (size - 1) }
