package timeline

import "hash/maphash"

// runDetail has the fields of a single-item run that are not in its columns.
type runDetail struct {
	from    int64 // offset of its arguments in bytes
	size    int32
	endGoid uint64
}

// runDetails are those of an index. A recent text is stored only once; looking for all would
// take longer than storing it again.
type runDetails struct {
	list  []runDetail
	bytes []byte
	near  [1 << 10]int32 // cache by hash of the text: index in list, plus one
	seed  maphash.Seed
}

func newRunDetails() runDetails { return runDetails{seed: maphash.MakeSeed()} }

// add stores a detail, and returns its index plus one; 0 if there is nothing to store.
func (x *runDetails) add(text []byte, endGoid uint64) int32 {
	if len(text) == 0 && endGoid == 0 {
		return 0
	}
	r := runDetail{int64(len(x.bytes)), int32(len(text)), endGoid}
	near := &x.near[maphash.Bytes(x.seed, text)%uint64(len(x.near))]
	if known, _ := x.at(*near); len(text) > 0 && string(known) == string(text) {
		r.from = x.list[*near-1].from
		if x.list[*near-1].endGoid == endGoid {
			return *near
		}
	} else {
		x.bytes = append(x.bytes, text...)
	}
	x.list = append(x.list, r)
	*near = int32(len(x.list))
	return *near
}

// at returns the detail at a place that add returned.
func (x *runDetails) at(place int32) (text []byte, endGoid uint64) {
	if place == 0 {
		return nil, 0
	}
	r := &x.list[place-1]
	return x.bytes[r.from : r.from+int64(r.size)], r.endGoid
}
