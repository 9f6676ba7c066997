package bulk

import "github.com/scopeview/scopeview/internal/format"

// In the shape Long, the first chunk of each P begins connections scopes that end with the
// trace, and every jobEach-th chunk begins a scope that ends in the chunk before the next
// such one.
const (
	connections = 4
	jobEach     = 16
)

// begins returns the records of the scopes that begin in chunk i and have separate ends.
func (p *plan) begins(i int64) (list []format.Record) {
	if p.Shape != Long || i/owners%jobEach != 0 {
		return nil
	}
	add := func(goid uint64, name uint16) {
		list = append(list, format.Record{
			Start: p.since(i) + int64(len(list)), Stop: format.OpenStop(thread(i%owners), 3, 5) | format.ApartBit,
			Head: format.Head(goid, format.KindTask, false, name),
		})
	}
	if i < owners {
		for j := range int64(connections) {
			add(uint64(1000+connections*i+j), nameConnection)
		}
	}
	add(uint64(10_000+i), nameJob)
	return list
}

// beginOff returns the offset of the n-th record of begins in its chunk.
func beginOff(n int) int { return format.ChunkHeaderSize + (1+n)*format.RecordSize }

// apartEnd is a separate end: its begin, and the begin's location.
type apartEnd struct {
	begin format.Record
	loc   format.Loc
}

// ends returns the separate ends in chunk i.
func (p *plan) ends(i int64) (list []apartEnd) {
	for _, c := range p.carries() {
		if c.chunk == i {
			list = append(list, apartEnd{c.record, c.loc})
		}
	}
	if p.Shape != Long {
		return list
	}
	if last := p.lastOf(i); i == last || i/owners%jobEach == jobEach-1 {
		from := i%owners + i/owners/jobEach*jobEach*owners
		all := p.begins(from)
		list = append(list, apartEnd{all[len(all)-1], p.loc(from, beginOff(len(all)-1))})
		if i == last {
			first := p.begins(i % owners)
			for n, r := range first[:connections] {
				list = append(list, apartEnd{r, p.loc(i%owners, beginOff(n))})
			}
		}
	}
	return list
}

// apart returns the number of scopes with separate ends.
func (p *plan) apart() (n int64) {
	if p.Shape != Long {
		return 0
	}
	for i := int64(0); i < p.chunks; i++ {
		if i/owners%jobEach == 0 {
			n += int64(len(p.begins(i)))
		}
	}
	return n
}
