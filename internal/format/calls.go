package format

import "fmt"

// Calls is how often a function was called since it was told last, of one that was not
// recorded each time.
type Calls struct {
	Name     uint16
	Calls    int64
	Recorded int64 // of those: asked to be, and lost where there was no room for them
	Off      int64 // ticks that its calls have only been counted for; -1: they are recorded
}

// MaxCalls is how many functions a block has at most.
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

// Unseen is how often a function was called, by estimate, while its calls were not counted, since
// it was told last.
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
