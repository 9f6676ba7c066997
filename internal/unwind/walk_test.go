package unwind

import (
	"encoding/binary"
	"slices"
	"testing"
)

// made is code of functions of 0x100 bytes each, with a rule for each function and calls by
// return address.
type made struct {
	rules map[uint64]Rule   // by the function's first address
	calls map[uint64]uint64 // the target of the call before a return address; 0: an indirect call
	jumps map[uint64]uint64 // by function, the target of its jump
	begin uint64
}

func (m made) Arch() string { return "amd64" }
func (m made) Function(pc uint64) (from, to uint64, ok bool) {
	from = pc &^ 0xff
	_, ok = m.rules[from]
	return from, from + 0x100, ok
}
func (m made) Stub(uint64) bool     { return false }
func (m made) Begin(pc uint64) bool { return m.begin != 0 && pc&^0xff == m.begin }
func (m made) Rule(pc uint64) Rule  { return m.rules[pc&^0xff] }
func (m made) Code(pc uint64, n int) []byte {
	b := make([]byte, n)
	if to, ok := m.calls[pc+uint64(n)]; ok && n >= 5 {
		if b[n-2], b[n-1] = 0xff, 0xd0; to != 0 {
			b[n-5] = 0xe8
			binary.LittleEndian.PutUint32(b[n-4:], uint32(to-pc-uint64(n)))
		}
	}
	if to, ok := m.jumps[pc]; ok && n >= 5 {
		b[0] = 0xe9
		binary.LittleEndian.PutUint32(b[1:], uint32(to-pc-5))
	}
	return b
}

func TestWalk(t *testing.T) {
	const f, g, h, jit = 0x1000, 0x1100, 0x1200, 0x9000 // h calls g, g calls f
	const inG, inH, inTop = 0x1150, 0x1250, 0x1350
	framed, bare := Rule{How: ByPointer}, Rule{How: OnStack, Offset: 8}
	rules := func(of map[uint64]Rule) map[uint64]Rule {
		all := map[uint64]Rule{f: framed, g: framed, h: framed, 0x1300: {How: Outermost}}
		for k, r := range of {
			all[k] = r
		}
		return all
	}
	calls := map[uint64]uint64{inG: f, inH: g, inTop: h}
	for name, c := range map[string]struct {
		text  made
		chain []uint64
		words []uint64
		cut   bool
		want  []uint64
	}{
		"all have frames":                  {made{rules: rules(nil), calls: calls}, []uint64{f, inG, inH, inTop}, nil, false, []uint64{f, inG - 1, inH - 1, inTop - 1}},
		"in a prologue":                    {made{rules: rules(map[uint64]Rule{f: bare}), calls: calls}, []uint64{f, inH, inTop}, []uint64{1, inG}, false, []uint64{f, inG - 1, inH - 1, inTop - 1}},
		"in a prologue, without the stack": {made{rules: rules(map[uint64]Rule{f: bare}), calls: calls}, []uint64{f, inH, inTop}, nil, false, []uint64{f, UnknownCaller, inH - 1, inTop - 1}},
		"two without frames":               {made{rules: rules(map[uint64]Rule{f: bare, g: bare}), calls: calls}, []uint64{f, inTop}, []uint64{1, inG, 1, inH}, false, []uint64{f, inG - 1, inH - 1, inTop - 1}},
		"the next one called another":      {made{rules: rules(nil), calls: calls}, []uint64{f, inH, inTop}, nil, false, []uint64{f, UnknownCaller, inH - 1, inTop - 1}},
		"an indirect call":                 {made{rules: rules(nil), calls: map[uint64]uint64{inG: 0, inTop: h}}, []uint64{f, inG}, nil, false, []uint64{f, inG - 1, UnknownCaller}},
		"no call":                          {made{rules: rules(nil), calls: calls}, []uint64{f, 0x1160, inH, inTop}, nil, false, []uint64{f, UnknownCaller, inH - 1, inTop - 1}},
		"a clobbered frame pointer":        {made{rules: rules(map[uint64]Rule{f: {OnStack, 8, true}}), calls: calls}, []uint64{f, inH, inTop}, []uint64{1, inG}, false, []uint64{f, inG - 1, UnknownCaller}},
		"a jump to the function":           {made{rules: rules(nil), calls: map[uint64]uint64{inH: g, inTop: h}, jumps: map[uint64]uint64{g: f}}, []uint64{f, inH, inTop}, nil, false, []uint64{f, g, inH - 1, inTop - 1}},
		"code that nobody knows":           {made{rules: rules(nil), calls: calls}, []uint64{jit, inH, inTop}, []uint64{inG}, false, []uint64{jit, UnknownCaller, inH - 1, inTop - 1}},
		"the chain is too long":            {made{rules: rules(nil), calls: calls}, []uint64{f, inG}, nil, true, []uint64{f, inG - 1, Truncated}},
		"it is as long, and whole":         {made{rules: rules(nil), calls: calls}, []uint64{f, inG, inH, inTop}, nil, true, []uint64{f, inG - 1, inH - 1, inTop - 1}},
		"what called main is the system":   {made{rules: rules(nil), calls: calls, begin: f}, []uint64{f, inG}, nil, false, []uint64{f, inG - 1}},
		"nothing":                          {made{}, nil, nil, false, nil},
	} {
		s := Stack{PCs: c.chain, Cut: c.cut}
		for _, w := range c.words {
			s.Words = binary.LittleEndian.AppendUint64(s.Words, w)
		}
		if got := Walk(nil, &s, c.text, &Cache{}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %#x, want %#x", name, got, c.want)
		}
	}
}
