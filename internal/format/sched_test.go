package format

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

func TestGoTrace(t *testing.T) {
	p := AppendGoTrace([]byte("x"), 3, math.MaxUint32, []byte("part"))[1:]
	vs, err := decode(BlockGoTrace, p)
	if err != nil || vs[0].N != 3 || vs[1].N != math.MaxUint32 || string(vs[2].B) != "part" || len(p) != GoTraceHeadSize+4 {
		t.Errorf("%v, %v", vs, err)
	}
	if vs, err := decode(BlockGoTrace, p[:GoTraceHeadSize]); err != nil || len(vs[2].B) != 0 {
		t.Errorf("a part of nothing: %v, %v", vs, err)
	}
	for _, bad := range [][]byte{nil, p[:7], AppendGoTrace(nil, 0, 0, []byte("of no stream"))} {
		if _, err := decode(BlockGoTrace, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func TestSwitches(t *testing.T) {
	for _, s := range []Switches{
		{},
		{Thread: math.MaxUint32, First: true, Base: 5, Until: 5},
		{Thread: 7, Lost: true, On: true, Base: 5, Until: MaxTicks - 1, List: []Switch{
			{5, SwitchOut}, {5, SwitchIn}, {6, SwitchPreempt}, {1 << 40, SwitchIn}, {1<<40 + 1, SwitchData}, {1<<40 + 2, SwitchIn}, {1 << 41, SwitchText}, {1 << 42, SwitchIn}, {1 << 42, SwitchText}, {1 << 42, SwitchData}, {1<<42 + 1, SwitchData}, {1<<42 + 2, SwitchIn}, {MaxTicks - 1, SwitchOut}}},
	} {
		p := AppendSwitches(nil, &s)
		got, err := DecodeSwitches(nil, p)
		if err != nil || got.Thread != s.Thread || got.First != s.First || got.Lost != s.Lost || got.On != s.On ||
			got.Base != s.Base || got.Until != s.Until || !slices.Equal(got.List, s.List) {
			t.Errorf("%+v is read as %+v, %v", s, got, err)
		}
		if _, n, err := CheckSwitches(p); n < len(s.List) || n > 2*len(s.List) || err != nil {
			t.Errorf("%+v: %d switches, %v", s, n, err)
		}
	}
}

func TestSwitchesBad(t *testing.T) {
	payload := func(base, until int64, list ...byte) []byte {
		return append(appendInts(make([]byte, 8), base, until), list...)
	}
	for name, p := range map[string][]byte{
		"short":             payload(5, 9)[:switchesHead-1],
		"before time":       payload(-1, 9),
		"backwards":         payload(9, 8),
		"no time":           payload(9, MaxTicks),
		"behind the end":    payload(5, 9, 5<<2),
		"sum behind it":     payload(5, 9, 2<<2, 3<<2),
		"cut":               payload(5, 9, 0x80),
		"more than 64 bits": payload(5, 9, bytes.Repeat([]byte{0xff}, 10)...),
		"too many":          payload(5, 9, make([]byte, maxSwitches+1)...),
	} {
		if s, err := DecodeSwitches(nil, p); !errors.Is(err, ErrCorrupt) || s.List != nil {
			t.Errorf("%s: %d switches, %v", name, len(s.List), err)
		}
	}
	if s, err := DecodeSwitches(nil, payload(5, 9, make([]byte, maxSwitches)...)); err != nil || len(s.List) != maxSwitches {
		t.Errorf("as many as there may be: %d, %v", len(s.List), err)
	}
	// Everything that fits into a chunk of 64 KiB may be written.
	if room := 64<<10 - ChunkHeaderSize - BlockHeaderSize - switchesHead; room > maxSwitches {
		t.Errorf("a chunk has room for %d", room)
	}
}

// TestSwitchesAllocate: decoding reuses its memory, and checking allocates
// nothing.
func TestSwitchesAllocate(t *testing.T) {
	s := Switches{Base: 1, Until: 1e6}
	for i := range 1000 {
		s.List = append(s.List, Switch{int64(i + 1), SwitchKind(i & 1)})
	}
	p := AppendSwitches(nil, &s)
	dst := make([]Switch, 0, 1000)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := DecodeSwitches(dst, p); err != nil {
			t.Error(err)
		}
		if _, _, err := CheckSwitches(p); err != nil {
			t.Error(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got, err := DecodeSwitches(nil, p); cap(got.List) > 1100 || err != nil {
		t.Errorf("room for %d, %v", cap(got.List), err)
	}
}

func TestLockSums(t *testing.T) {
	for _, l := range []LockSums{
		{Ticks: 1},
		{Ticks: MaxTicks - 1, Addr: math.MaxUint64, Name: math.MaxUint16, Kind: LockRetry, Acquired: math.MaxInt64, Contended: math.MaxInt64, Short: math.MaxInt64, ShortWait: math.MaxInt64},
		{Ticks: 5, Addr: 0xc000012340, Name: 2, Kind: LockMutex, Acquired: -1, Contended: 3, Short: 2, ShortWait: 900},
	} {
		if got, err := DecodeLockSums(AppendLockSums(nil, &l)); got != l || err != nil {
			t.Errorf("%+v is read as %+v, %v", l, got, err)
		}
	}
	good := LockSums{Ticks: 5, Kind: LockMutex, Contended: 3, Short: 2}
	for name, change := range map[string]func(*LockSums){
		"acquired":        func(l *LockSums) { l.Acquired = -2 },
		"contended":       func(l *LockSums) { l.Contended, l.Short = -1, -1 },
		"short":           func(l *LockSums) { l.Short = -1 },
		"more short ones": func(l *LockSums) { l.Short = 4 },
		"wait":            func(l *LockSums) { l.ShortWait = -1 },
		"kind":            func(l *LockSums) { l.Kind = LockKind(len(LockKindNames)) },
	} {
		bad := good
		change(&bad)
		if _, err := DecodeLockSums(AppendLockSums(nil, &bad)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := AppendLockSums(nil, &good)
	for _, bad := range [][]byte{nil, p[:55], append(bytes.Clone(p), 0)} {
		if _, err := DecodeLockSums(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	for i := 19; i < 24; i++ { // reserved bytes
		bad := bytes.Clone(p)
		bad[i] = 1
		if _, err := DecodeLockSums(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d is not 0: %v", i, err)
		}
	}
}

func TestLockSlot(t *testing.T) {
	for k := range LockKindNames {
		for _, m := range []lockMode{LockExclusive, LockShared} {
			if kind, mode := LockOf(LockSlot(LockKind(k), m)); kind != LockKind(k) || mode != m {
				t.Errorf("%d %d is read as %d %d", k, m, kind, mode)
			}
		}
	}
	if kind, _ := LockOf(math.MaxUint64); kind != LockUnknown {
		t.Errorf("a kind of a later version is read as %d", kind)
	}
}

func FuzzDecodeSwitches(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(AppendSwitches(nil, &Switches{Thread: 1, First: true, On: true, Base: 5, Until: 1000, List: []Switch{{9, SwitchOut}, {300, SwitchIn}, {1000, SwitchPreempt}, {1000, SwitchText}, {1000, SwitchData}}}))
	f.Add(append(appendInts(make([]byte, 8), 5, 9), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1))
	f.Fuzz(func(t *testing.T, p []byte) {
		s, err := DecodeSwitches(nil, p)
		_, n, err2 := CheckSwitches(p)
		if (err == nil) != (err2 == nil) || err == nil && (n < len(s.List) || n > 2*len(s.List)) {
			t.Fatalf("%d switches, %v; checked: %d, %v", len(s.List), err, n, err2)
		}
		if err != nil {
			return
		}
		at := s.Base
		for _, w := range s.List {
			if w.Time < at || w.Time > s.Until || w.How > SwitchText {
				t.Fatalf("%v in %d..%d, after %d", w, s.Base, s.Until, at)
			}
			at = w.Time
		}
		again, err := DecodeSwitches(nil, AppendSwitches(nil, &s))
		if err != nil || !slices.Equal(again.List, s.List) || again.Base != s.Base || again.Until != s.Until || again.Thread != s.Thread {
			t.Fatalf("%+v becomes %+v, %v", s, again, err)
		}
	})
}

func FuzzDecodeLockSums(f *testing.F) {
	f.Add(AppendLockSums(nil, &LockSums{Ticks: 5, Kind: LockMutex, Acquired: -1, Contended: 3, Short: 2}))
	f.Fuzz(func(t *testing.T, p []byte) {
		if l, err := DecodeLockSums(p); err == nil && !bytes.Equal(AppendLockSums(nil, &l), p) {
			t.Fatalf("%x is read as %+v", p, l)
		}
		if vs, err := decode(BlockGoTrace, p); err == nil && !bytes.Equal(AppendGoTrace(nil, uint32(vs[0].N), uint32(vs[1].N), vs[2].B), p) {
			t.Fatalf("%x is read as %v", p, vs)
		}
	})
}
