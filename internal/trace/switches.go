package trace

import "github.com/scopeview/scopeview/internal/format"

// SwitchReader reads switch blocks in any order.
type SwitchReader struct {
	t *Trace
	b blockReader
}

// SwitchBlock is a place of a switch block.
type SwitchBlock format.Loc

// SwitchBlocks lists the switch blocks, by the order in which they were written, and
// what reads them.
func (t *Trace) SwitchBlocks() ([]SwitchBlock, *SwitchReader) {
	locs := t.asWritten(t.sched.switches)
	all := make([]SwitchBlock, len(locs))
	for i, loc := range locs {
		all[i] = SwitchBlock(loc)
	}
	return all, &SwitchReader{t: t}
}

// Read reads a block, its switches appended to dst. ok is false where it is not there any
// more: a ring has overwritten it.
func (r *SwitchReader) Read(dst []format.Switch, b SwitchBlock) (s format.Switches, ok bool, err error) {
	typ, p, err := r.b.read(r.t, format.Loc(b))
	if err == errGone || err == nil && typ != format.BlockSwitch {
		return s, false, nil
	}
	if err == nil {
		s, err = format.DecodeSwitches(dst, p)
	}
	return s, err == nil, err
}
