package trace

import "github.com/scopeview/scopeview/internal/format"

// switchBlock checks that the switches of a thread follow each other.
func (v *checker) switchBlock(p []byte, here int64) {
	s, _, _ := format.CheckSwitches(p)
	if v.switched == nil {
		v.switched = map[[2]uint32]int64{}
	}
	thread := [2]uint32{uint32(s.Process), s.Thread}
	until := v.switched[thread]
	v.check(s.Base >= until, here, "block-switch", "switches of thread %d from %d on, after a block that had them until %d", s.Thread, s.Base, until)
	v.switched[thread] = s.Until
}

// goTraces checks the parts of Go execution traces against each other.
func (v *checker) goTraces() {
	parts := v.t.sortedParts()
	for i := 1; i < len(parts); i++ {
		a, b := &parts[i-1], &parts[i]
		v.check(a.stream != b.stream || a.seq != b.seq, v.t.addr.offset(b.loc), "block-gotrace", "the part %d of the Go execution trace %d is repeated", b.seq, b.stream)
	}
}
