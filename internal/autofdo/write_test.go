package autofdo

import (
	"errors"
	"io"
	"testing"
)

// TestWriteRefuses: names are refused if Clang would read a different one, and only then.
func TestWriteRefuses(t *testing.T) {
	head := func(name string) *Function { return newFunction(name) }
	target := func(name string) *Function {
		f := newFunction("f")
		f.line(Loc{1, 0}).target(name, 3, 1)
		return f
	}
	inlined := func(name string) *Function {
		f := newFunction("f")
		f.inlined(Loc{1, 0}, name)
		return f
	}
	for name, wrong := range map[string][3]bool{ // as a function, a target, inlined
		"main.(*T).M[go.shape.struct { A int; B string }]": {},
		"type:.eq.T": {},
		"a:5":        {},
		"":           {false, true, false},
		" f":         {true, true, false},
		"#f":         {true, false, false},
		"[f":         {true, false, false},
		":f":         {false, true, false},
		"5f":         {false, false, true},
		"a:5 b":      {false, true, false},
		"a\nb":       {true, true, true},
		"a\x00b":     {true, true, true},
	} {
		for i, build := range []func(string) *Function{head, target, inlined} {
			f := build(name)
			p := New()
			p.Functions[f.Name] = f
			if err := Write(io.Discard, p); errors.Is(err, ErrName) != wrong[i] || err != nil && !wrong[i] {
				t.Errorf("%q as %d: got %v; refused should be %v", name, i, err, wrong[i])
			}
		}
	}
	mixed := New()
	mixed.function("f")
	mixed.function("[g]")
	if err := Write(io.Discard, mixed); !errors.Is(err, ErrKinds) {
		t.Errorf("functions with and without contexts: %v", err)
	}
}

// TestLargeOffsetIsReadBack: LLVM writes an offset of more than 16 bits in a way that it does
// not read. Offsets written here are read back.
func TestLargeOffsetIsReadBack(t *testing.T) {
	const in = "f:5:1\n 70000.0: 5\n"
	if out, _ := canonical(t, in); out != "f:5:1\n 70000: 5\n" {
		t.Fatalf("llvm-profdata writes %q", out)
	}
	got := written(t, strict(t, in))
	if got != in {
		t.Errorf("got %q; want %q", got, in)
	}
	if out, ok := canonical(t, got); !ok {
		t.Errorf("llvm-profdata refuses it: %s", out)
	}
}

func TestFlat(t *testing.T) {
	p := strict(t, "f:600:7\n 1: 100 g:5\n 2: g:500\n  1: 400 k:30\n  7: h:100\n   1: 60\n   2: h:40\n    1: 40\ng:50:3\n 1: 50\n !CFGChecksum: 5\n")
	flat, m := p.Flat()
	const want = "g:450:3\n 1: 450 k:30\n 7: 0 h:100\nf:100:7\n 1: 100 g:5\n 2: 0 g:530\nh:100:0\n 1: 100\n 2: 0 h:40\n"
	if got := written(t, flat); got != want || m.Saturated+len(m.Dropped) > 0 {
		t.Errorf("got:\n%s\nwant:\n%s\n%+v", got, want, m)
	}
	if out, ok := canonical(t, want); !ok || out != want {
		t.Errorf("llvm-profdata (%v):\n%s", ok, out)
	}
	contexts, _ := strict(t, "[a:3 @ f]:10:1\n 1: 10\n[b:3 @ f]:20:2\n 1: 20\n").Flat()
	if got := written(t, contexts); got != "f:30:3\n 1: 30\n" {
		t.Errorf("contexts: got %s", got)
	}
}
