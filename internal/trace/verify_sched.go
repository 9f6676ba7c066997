package trace

import "github.com/scopeview/scopeview/internal/format"

// schedBlock checks a gotrace, switch or lock block.
func (v *verifier) schedBlock(t format.BlockType, p []byte, here int64) error {
	switch t {
	case format.BlockGoTrace:
		_, _, _, err := format.DecodeGoTrace(p)
		return err // which parts there are is checked at the end
	case format.BlockSwitch:
		s, _, err := format.CheckSwitches(p)
		if err != nil {
			return err
		}
		v.check(p[4]&^7 == 0 && firstNonzero(p[5:8]) < 0, here, "block-form", "the flags of switches are %#x", p[4:8])
		if v.switched == nil {
			v.switched = map[uint32]int64{}
		}
		until := v.switched[s.Thread]
		v.check(s.Base >= until, here, "block-switch", "switches of thread %d from %d on, after a block that had them until %d", s.Thread, s.Base, until)
		v.switched[s.Thread] = s.Until
		return nil
	}
	l, err := format.DecodeLockSums(p)
	if err == nil {
		v.time(l.Ticks, here)
		v.check(v.defined(uint64(l.Name)), here, "block-lock", "the name %d of a lock is not defined", l.Name)
	}
	return err
}

// goTraces checks the parts of Go execution traces against each other.
func (v *verifier) goTraces() {
	parts := v.t.sortedParts()
	for i := 1; i < len(parts); i++ {
		a, b := &parts[i-1], &parts[i]
		v.check(a.stream != b.stream || a.seq != b.seq, v.t.place(b.loc), "block-gotrace", "the part %d of the Go execution trace %d is there a second time", b.seq, b.stream)
	}
}
