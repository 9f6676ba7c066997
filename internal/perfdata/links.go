package perfdata

import "cmp"

// spot is a position in a file that a process had mapped.
type spot struct {
	object int32 // -1: no file was mapped there
	offset uint64
}

var nowhere = spot{object: -1}

func (a spot) compare(b spot) int {
	return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.offset, b.offset))
}

// link is a pair of spots: a leaf and its caller, source and target of a branch, or the
// ends of code that ran without a branch.
type link struct{ a, b spot }

// program has the samples of the processes of an executable.
type program struct {
	object      int32
	samples     int64 // all, including those that are left out
	kernel      int64
	first, last uint64
	stacks      map[link]int64
	branches    map[link]int64
	ranges      map[link]int64
	oddBranches int64 // with an end in no file
	oddRanges   int64 // whose ends are not in one file
}

// taker is the second pass.
type taker struct {
	*survey
	pid         uint32 // 0: all
	event       int
	programs    map[int32]*program
	otherEvents int64
	otherPIDs   int64
}

func (t *taker) record(r record) error {
	if r.kind != recordSample {
		return nil
	}
	s, err := t.f.sample(r)
	switch {
	case err != nil:
		return err
	case s.event != t.event:
		t.otherEvents++
		return nil
	case t.pid != 0 && s.pid != t.pid:
		t.otherPIDs++
		return nil
	}
	p := t.program(&s)
	p.samples++
	if p.samples == 1 {
		p.first = s.time
	}
	p.first, p.last = min(p.first, s.time), max(p.last, s.time)
	t.branched(p, &s)
	if !s.user {
		p.kernel++
		return nil
	}
	stack := link{t.spot(&s, s.ip), nowhere}
	if ret := s.caller(t.f.order); ret > 0 {
		stack.b = t.spot(&s, ret-1) // it returns to the address after the call
	}
	p.stacks[stack]++
	return nil
}

func (t *taker) program(s *sample) *program {
	object := t.spaces.program(s.pid, s.time)
	p := t.programs[object]
	if p == nil {
		p = &program{object: object, stacks: map[link]int64{}, branches: map[link]int64{}, ranges: map[link]int64{}}
		t.programs[object] = p
	}
	return p
}

func (t *taker) spot(s *sample, addr uint64) spot {
	m := t.spaces.at(s.pid, addr, s.time)
	if m == nil {
		return nowhere
	}
	return spot{m.object, addr - m.from + m.offset}
}

// longestRange is more bytes of code than run without a branch.
const longestRange = 1 << 20

// branched counts a sample's last branches, and the ranges of code between them.
func (t *taker) branched(p *program, s *sample) {
	a := &t.f.attrs[t.event]
	if a.branches&branchStack != 0 {
		return
	}
	const all, calls = branchAny, branchAny | branchAnyCall | branchCall
	later := nowhere // source of the branch after this one
	for b := s.branches; len(b) >= branchSize; b = b[branchSize:] {
		from, to := t.spot(s, t.f.order.Uint64(b)), t.spot(s, t.f.order.Uint64(b[8:]))
		switch {
		case a.branches&calls == 0:
		case from == nowhere || to == nowhere:
			p.oddBranches++
		default:
			p.branches[link{from, to}]++
		}
		switch first := len(b) == len(s.branches); {
		case a.branches&all == 0 || first:
		case to == nowhere || later.object != to.object || later.offset < to.offset || later.offset-to.offset > longestRange:
			p.oddRanges++
		default:
			p.ranges[link{to, later}]++
		}
		later = from
	}
}
