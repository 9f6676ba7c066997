package format

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

var someSamples = []Samples{
	{Counter: "c"},
	{Thread: 7, Base: 5, Until: 1000, Lost: 3, Counter: "task-clock", Unit: "nanoseconds", List: []CodeSample{
		{Time: 5, Weight: 1e7, Stack: CodeStacks}, {Time: 5, Kernel: true, CPU: 127, Weight: 1, Stack: OtherStacks},
		{Time: 1000, CPU: 1<<31 - 1, Weight: 1<<63 - 1, Stack: StackIDs - 1},
	}},
	{Thread: 1<<32 - 1, Base: MaxTicks - 1, Until: MaxTicks - 1, Lost: 1<<63 - 1, Counter: "page-faults", Unit: "count"},
}

func TestSamples(t *testing.T) {
	var r SamplesReader
	for _, s := range someSamples {
		p := AppendSamples(nil, &s)
		got, err := r.Decode(p)
		if err != nil || len(got.List) != len(s.List) {
			t.Fatalf("%+v is read as %+v, %v", s, got, err)
		}
		list := got.List
		if len(list) == 0 {
			got.List = nil
		}
		if !reflect.DeepEqual(got, s) {
			t.Errorf("%+v is read as %+v", s, got)
		}
		head := s
		head.List = nil
		if got, err := CheckSamples(p); err != nil || !reflect.DeepEqual(got, head) {
			t.Errorf("the head of %+v is read as %+v, %v", s, got, err)
		}
		if vs, err := decode(BlockSamples, p); err != nil || !bytes.Equal(Blocks[BlockSamples].Append(nil, vs), p) {
			t.Errorf("the table reads %x as %v, %v", p, vs, err)
		}
	}
	tooMany := AppendSamples(nil, &Samples{Counter: "c", List: make([]CodeSample, MaxSamples+1)})
	for name, p := range map[string][]byte{
		"nothing": nil, "ends before it begins": AppendSamples(nil, &Samples{Base: 2, Until: 1, Counter: "c"}),
		"too many samples": tooMany, "no counter": AppendSamples(nil, &Samples{}),
	} {
		if _, err := r.Decode(p); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := CheckSamples(p); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: checked: %v", name, err)
		}
	}
	if s, err := r.Decode(tooMany[:len(tooMany)-4]); err != nil || len(s.List) != MaxSamples {
		t.Errorf("%d samples, %v", len(s.List), err)
	}
}

func TestCode(t *testing.T) {
	for _, c := range []Code{{Stack: CodeStacks, PCs: []uint64{}}, {Stack: StackIDs - 1, PCs: []uint64{0x401020, 0xffffffff81001000, 0, 1<<64 - 1, 1 << 63}}} {
		p := AppendCode(nil, &c)
		if got, err := DecodeCode(p); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%+v is read as %+v, %v", c, got, err)
		}
		if vs, err := decode(BlockCode, p); err != nil || !bytes.Equal(Blocks[BlockCode].Append(nil, vs), p) {
			t.Errorf("the table reads %x as %v, %v", p, vs, err)
		}
	}
	for _, id := range []uint32{0, CodeStacks - 1, StackIDs} {
		if _, err := DecodeCode(AppendCode(nil, &Code{Stack: id})); !errors.Is(err, ErrCorrupt) {
			t.Errorf("stack %d: %v", id, err)
		}
	}
}

func FuzzDecodeSamples(f *testing.F) {
	for _, s := range someSamples {
		f.Add(AppendSamples(nil, &s))
	}
	f.Add(AppendCode(nil, &Code{Stack: CodeStacks, PCs: []uint64{1, 1 << 63}}))
	f.Fuzz(func(t *testing.T, p []byte) {
		var r SamplesReader
		if c, err := DecodeCode(p); err == nil {
			if again, err := DecodeCode(AppendCode(nil, &c)); err != nil || !reflect.DeepEqual(again, c) {
				t.Fatalf("%+v becomes %+v, %v", c, again, err)
			}
		}
		s, err := r.Decode(p)
		if _, err2 := CheckSamples(p); (err == nil) != (err2 == nil) {
			t.Fatalf("%v, checked %v", err, err2)
		}
		if err != nil {
			return
		}
		at := s.Base
		for _, x := range s.List {
			if x.Time < at || x.Time > s.Until || x.Weight < 0 || x.Stack >= StackIDs {
				t.Fatalf("%+v in %d..%d, after %d", x, s.Base, s.Until, at)
			}
			at = x.Time
		}
		var r2 SamplesReader
		again, err := r2.Decode(AppendSamples(nil, &s))
		if err != nil || len(again.List) != len(s.List) || len(s.List) > 0 && !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v becomes %+v, %v", s, again, err)
		}
	})
}
