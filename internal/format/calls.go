package format

import "fmt"

// Calls counts the calls of a function since its last block, if not all of them were recorded.
type Calls struct {
	Name     uint16
	Calls    int64
	Recorded int64 // of those: passed to the recorder, which may have lost them for lack of room
	Off      int64 // ticks for which its calls have only been counted; -1: they are recorded
}

// MaxCalls is the maximum number of functions in a block.
const MaxCalls = 1024

// AppendCalls appends a calls block's payload.
func AppendCalls(b []byte, ticks int64, cs []Calls) []byte {
	b = appendInts(b, ticks)
	for _, c := range cs {
		b = appendInts(b, int64(c.Name), c.Calls, c.Recorded, c.Off)
	}
	return b
}

// DecodeCalls reads a calls block's payload, appending to dst.
func DecodeCalls(dst []Calls, p []byte) (ticks int64, cs []Calls, err error) {
	v, err := decode(BlockCalls, p)
	if err != nil {
		return 0, dst, err
	}
	for each := v[1:]; len(each) > 0; each = each[4:] {
		c := Calls{uint16(each[0].N), each[1].N, each[2].N, each[3].N}
		if c.Recorded > c.Calls {
			return 0, dst, fmt.Errorf("%w: %d calls recorded of %d", ErrCorrupt, c.Recorded, c.Calls)
		}
		dst = append(dst, c)
	}
	return v[0].N, dst, nil
}

// Unseen estimates the calls of a function while they were not counted, since its last block.
type Unseen struct {
	Name  uint16
	Calls int64
}

// AppendUnseen appends an unseen block's payload.
func AppendUnseen(b []byte, ticks int64, us []Unseen) []byte {
	b = appendInts(b, ticks)
	for _, u := range us {
		b = appendInts(b, int64(u.Name), u.Calls)
	}
	return b
}

// DecodeUnseen reads an unseen block's payload, appending to dst.
func DecodeUnseen(dst []Unseen, p []byte) ([]Unseen, error) {
	v, err := decode(BlockUnseen, p)
	if err != nil {
		return dst, err
	}
	for each := v[1:]; len(each) > 0; each = each[2:] {
		dst = append(dst, Unseen{uint16(each[0].N), each[1].N})
	}
	return dst, nil
}
