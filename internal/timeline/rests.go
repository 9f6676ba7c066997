package timeline

import "hash/maphash"

// rest is what a run of one has beside its columns.
type rest struct {
	from    int64 // its arguments' place among the bytes
	size    int32
	endGoid uint64
}

// rests are those of an index. A text that came lately is there once; to look for all would
// take longer than to keep it again.
type rests struct {
	list  []rest
	bytes []byte
	near  [1 << 10]int32 // by the hash of the text, the latest place behind in list
	seed  maphash.Seed
}

func newRests() rests { return rests{seed: maphash.MakeSeed()} }

// add returns the place behind what it adds; 0: there is nothing to be kept.
func (x *rests) add(text []byte, endGoid uint64) int32 {
	if len(text) == 0 && endGoid == 0 {
		return 0
	}
	r := rest{int64(len(x.bytes)), int32(len(text)), endGoid}
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

// at returns what is at a place that add returned.
func (x *rests) at(place int32) (text []byte, endGoid uint64) {
	if place == 0 {
		return nil, 0
	}
	r := &x.list[place-1]
	return x.bytes[r.from : r.from+int64(r.size)], r.endGoid
}
