package snapshot

import (
	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/newfile"
)

// runBytes is the number of bytes that are copied at once. More is not faster, and does not stay in
// the processor's cache between reading and writing.
const runBytes = 256 << 10

// enoughLost is the number of runs overwritten while they are copied at which the writer counts as
// faster.
const enoughLost = 4

// finals copies the chunks that do not change any more, in the order in which a ring overwrites
// them: so nothing is lost if copying is faster than the writer. If it is slower, everything would
// be lost in that order, as the writer is always just ahead: then the latest come first, until they
// meet the writer.
//
// They are read and written instead of copied by the kernel: copy_file_range makes both files share
// their blocks where the file system can. Writing to shared blocks of a ring needs new ones. On a
// full disk a store into the mapped file would then end the program.
func (c *copier) finals() error {
	places := c.settledPlaces()
	buf := make([]byte, max(runBytes, c.cs))
	most := len(buf) / int(c.cs)
	for lost := 0; len(places) > 0; {
		var run []int32
		if lost < enoughLost {
			ok, err := c.unchanged(int(places[0]))
			if err != nil {
				return err
			}
			if !ok { // skip the lost chunks, up to the writer's position
				c.chunks[places[0]-1].is = missed
				places = places[1:]
				continue
			}
			n := 1
			for n < min(most, len(places)) && places[n] == places[0]+int32(n) {
				n++
			}
			run, places = places[:n], places[n:]
		} else {
			n := len(places) - 1
			for n > max(0, len(places)-most) && places[n-1] == places[n]-1 {
				n--
			}
			run, places = places[n:], places[:n]
		}
		whole, err := c.copyRun(int(run[0]), buf[:len(run)*int(c.cs)])
		if err != nil {
			return err
		}
		if !whole {
			lost++
		}
	}
	return nil
}

// settledPlaces returns the places of the chunks that do not change any more, in the order in which
// a ring overwrites them.
func (c *copier) settledPlaces() (places []int32) {
	for i := range c.chunks {
		if c.chunks[i].is == final {
			places = append(places, int32(i+1))
		}
	}
	c.inOrder(places)
	return places
}

// copyRun copies the chunks from the place at on by way of buf. A chunk that is overwritten is
// zeroed first, its header before the rest: if the header is the same after the read, the bytes
// read are the chunk. whole reports that for all chunks.
func (c *copier) copyRun(at int, buf []byte) (whole bool, err error) {
	off := int64(at) * c.cs
	if _, err := chunks.ReadFull(c.src, buf, off); err != nil {
		return false, c.readError(off, err)
	}
	whole = true
	n := len(buf) / int(c.cs)
	good := 0 // chunks before the current one that wait to be written
	for i := 0; i <= n; i++ {
		if i < n {
			ok, err := c.unchanged(at + i)
			if err != nil {
				return false, err
			}
			if ok {
				c.chunks[at+i-1].is = copied
				good++
				continue
			}
			c.chunks[at+i-1].is = missed
			whole = false
		}
		if good > 0 {
			from := (i - good) * int(c.cs)
			if _, err := newfile.WriteAt(c.dst, buf[from:i*int(c.cs)], off+int64(from)); err != nil {
				return false, err
			}
		}
		good = 0
	}
	return whole, nil
}
