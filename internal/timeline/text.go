package timeline

import "hash/maphash"

// texts stores each text once. A map of strings would take three times the memory, and there
// can be as many arguments as scopes.
type texts struct {
	bytes []byte
	ends  []uint64 // ends of the texts; each begins where the one before ends
	slots []uint32 // open addressing; 0: free, as text 0 is the empty one
	seed  maphash.Seed
}

func newTexts() texts {
	return texts{ends: []uint64{0}, slots: make([]uint32, 64), seed: maphash.MakeSeed()}
}

func (x *texts) get(i uint32) []byte {
	if i == 0 {
		return nil
	}
	return x.bytes[x.ends[i-1]:x.ends[i]]
}

// add stores a text, and returns its index.
func (x *texts) add(b []byte) uint32 {
	if len(b) == 0 {
		return 0
	}
	if 4*len(x.ends) > 3*len(x.slots) {
		x.grow()
	}
	at := x.find(b)
	if x.slots[at] == 0 {
		x.slots[at] = uint32(len(x.ends))
		x.bytes = append(x.bytes, b...)
		x.ends = append(x.ends, uint64(len(x.bytes)))
	}
	return x.slots[at]
}

// find returns the slot of a text, or a free one for it.
func (x *texts) find(b []byte) uint64 {
	mask := uint64(len(x.slots) - 1)
	at := maphash.Bytes(x.seed, b) & mask
	for x.slots[at] != 0 && string(x.get(x.slots[at])) != string(b) {
		at = (at + 1) & mask
	}
	return at
}

func (x *texts) grow() {
	x.slots = make([]uint32, 2*len(x.slots))
	for i := 1; i < len(x.ends); i++ {
		x.slots[x.find(x.get(uint32(i)))] = uint32(i)
	}
}
