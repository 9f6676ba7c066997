package bulk

import "github.com/scopeview/scopeview/internal/format"

// Of the shape Long, the first chunk of each P begins so many scopes that end with the trace,
// and each jobEach-th one a scope that ends in the one before the next of those.
const (
	connections = 4
	jobEach     = 16
)

// begins lists the scopes that begin in chunk i and end apart, as their records are.
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

// beginOff is where in its chunk the n-th record of begins is.
func beginOff(n int) int { return format.ChunkHeaderSize + (1+n)*format.RecordSize }

// apartEnd is an end apart: of what, and where that is.
type apartEnd struct {
	begin format.Record
	loc   format.Loc
}

// ends lists what ends apart in chunk i.
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

// apart is how many scopes end apart.
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
