package autofdo

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/perfdata"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
)

func at(name string, start, line int) symbols.Frame {
	return symbols.Frame{Func: name, Start: start, Line: line}
}

func TestFromSamples(t *testing.T) {
	p := pgo.New(pgo.Samples)
	add := func(leaf, caller pgo.Location, same bool, weight int64) {
		t.Helper()
		if err := p.Add(leaf, caller, same, weight); err != nil {
			t.Fatal(err)
		}
	}
	inF := pgo.Location{at("g", 50, 52), at("f", 10, 14)} // g is inlined into f
	add(inF, pgo.Location{at("main", 1, 4)}, false, 100)
	add(pgo.Location{at("f", 10, 10)}, pgo.Location{at("main", 1, 4)}, false, 7)
	add(pgo.Location{at("f", 10, 11)}, pgo.Location{at("main", 1, 5)}, false, 3)
	add(pgo.Location{at("h", 90, 91)}, inF, false, 20)
	add(pgo.Location{at("h", 90, 95)}, pgo.Location{at("h", 90, 93)}, false, 4)
	add(pgo.Location{at("h", 90, 93)}, pgo.Location{at("h", 90, 93)}, true, 2) // not an edge for Go's compiler
	add(pgo.Location{{Func: "d", Start: 5, Line: 6, Disc: 3}}, nil, false, 9)
	add(pgo.Location{at("w", 100, 98)}, nil, false, 11)                          // a //line directive made it negative
	add(pgo.Location{at("w", 100, 100+70000)}, nil, false, 12)                   // too far
	add(pgo.Location{at("f", 10, 0)}, pgo.Location{at("main", 1, 4)}, false, 13) // no line, and yet a call
	add(pgo.Location{{Func: "n", Line: 3}}, nil, false, 14)                      // no first line
	add(pgo.Location{{}}, pgo.Location{at("main", 1, 4)}, false, 15)             // no name
	add(pgo.Location{at("a:5 b", 1, 2)}, nil, false, 16)                         // a name that a target can't have
	add(pgo.Location{at("d", 5, 6)}, pgo.Location{at("main", 1, 0)}, false, 17)  // no caller's line
	got, notes := FromSamples(p)
	want := strings.Join([]string{
		"f:110:7", " 0: 7", " 1: 3", " 4: g:100", "  2: 100 h:20",
		"d:26:0", " 1: 17", " 1.3: 9",
		"h:26:0", " 1: 20", " 3: 2 h:6", " 5: 4",
		"w:23:0", " 4464: 12", " 65534: 11",
		"main:0:0", " 3: 0 f:120", " 4: 0 f:3", ""}, "\n")
	if text := written(t, got); text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
	if want := (Notes{All: 243, NoName: 31, NoLine: 27, Wrapped: 23, NoTarget: 17}); notes != want {
		t.Errorf("notes %+v; want %+v", notes, want)
	}
	if out, ok := canonical(t, want); !ok || out != want {
		t.Errorf("llvm-profdata (%v):\n%s", ok, out)
	}
	_, warnings, err := Read(strings.NewReader(want), "FILE", false)
	if err != nil || len(warnings) > 0 {
		t.Errorf("read back: %v, %v", warnings, err)
	}
}

// TestHeads: if prologues are known, heads are samples of those only.
func TestHeads(t *testing.T) {
	p := pgo.New(pgo.Samples)
	p.Prologues = true
	for i, f := range []symbols.Frame{{Func: "f", Start: 3, Line: 4, Prologue: true}, at("f", 3, 3), at("g", 9, 9)} {
		if err := p.Add(pgo.Location{f}, nil, false, int64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	got, notes := FromSamples(p)
	if text := written(t, got); text != "f:3:1\n 0: 2\n 1: 1\ng:3:0\n 0: 3\n" || !notes.Prologue {
		t.Errorf("got:\n%s\n%+v", text, notes)
	}
}

// TestRoundTrip: the compiler obtains the same edges from samples and from their text.
func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		p := pgo.New(pgo.Samples)
		// Functions are in layers, so that none calls itself at one address: Go's compiler does
		// not count such a call, and the text does.
		location := func(layer int) pgo.Location {
			var location pgo.Location
			for depth := random.IntN(3); depth >= 0; depth-- {
				start := 10 * (1 + random.IntN(5))
				location = append(location, at(fmt.Sprintf("l%d.(*T).f%d", 3*layer+depth, start), start, start+random.IntN(60)))
			}
			return location
		}
		for range 200 {
			// A function without a caller never has one: otherwise calls would be scaled up.
			leaf, caller := location(2), pgo.Location(nil)
			if random.IntN(4) > 0 {
				leaf, caller = location(1), location(0)
			}
			if err := p.Add(leaf, caller, random.IntN(2) == 0, 1+random.Int64N(100)); err != nil {
				t.Fatal(err)
			}
		}
		text, notes := FromSamples(p)
		if notes != (Notes{All: notes.All}) {
			t.Fatalf("notes %+v", notes)
		}
		flat, _ := text.Flat()
		want := edgesOf(t, p)
		for form, q := range map[string]*Profile{"nested": text, "flat": flat} {
			back, err := ToSamples(strict(t, written(t, q)))
			if err != nil {
				t.Fatal(err)
			}
			if got := edgesOf(t, back); !maps.Equal(got.Weight, want.Weight) || got.Total != want.Total || !got.Lines {
				t.Fatalf("%s: got %v\nwant %v", form, got, want)
			}
		}
	}
}

func edgesOf(t *testing.T, p *pgo.Profile) *pgo.Edges {
	t.Helper()
	e, err := p.Edges()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestToSamples(t *testing.T) {
	p, err := ToSamples(strict(t, "f:500:7\n 1: 100 g:5 f:6\n 2: g:400\n  1: 300 k:30\n  7: h:100\n   1: 100\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[pgo.Edge]int64{{Caller: "f", Callee: "g", Offset: 1}: 5, {Caller: "f", Callee: "f", Offset: 1}: 6, {Caller: "f", Callee: "g", Offset: 2}: 430, {Caller: "g", Callee: "k", Offset: 1}: 30, {Caller: "g", Callee: "h", Offset: 7}: 100}
	if got := edgesOf(t, p); !reflect.DeepEqual(got.Weight, want) {
		t.Errorf("got %v; want %v", got.Weight, want)
	}
	if p, err = ToSamples(strict(t, "[main:3 @ f]:5:1\n 1: 5 g:4\n")); err != nil || edgesOf(t, p).Weight[pgo.Edge{Caller: "f", Callee: "g", Offset: 1}] != 4 {
		t.Errorf("contexts: %v, %v", p, err)
	}
	for _, text := range []string{"f:1:1\n 1: 1 g:9223372036854775808\n", "f:1:1\n 1: 1 g:9223372036854775807\n 1.1: 1 g:1\n"} {
		if _, err := ToSamples(strict(t, text)); !errors.Is(err, pgo.ErrOverflow) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTooMuchForSamples: sums that the compiler could not represent are refused.
func TestTooMuchForSamples(t *testing.T) {
	for name, text := range map[string]string{
		"a call":    "f:0:0\n 1: 0 g:9223372036854775808\n",
		"all calls": "f:0:0\n 1: 0 g:9000000000000000000\n 2: 0 h:9000000000000000000\n",
	} {
		p, _, err := Read(strings.NewReader(text), "FILE", false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ToSamples(p); !errors.Is(err, pgo.ErrOverflow) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFromBranches: lines, heads and targets have the counts of the branches; branches without
// name or line are left out, and reported.
func TestFromBranches(t *testing.T) {
	inF := pgo.Location{at("g", 50, 52), at("f", 10, 14)}
	got, notes := FromBranches(&perfdata.Branches{
		Lines: []perfdata.LineCount{
			{Location: inF, Count: 100}, {Location: pgo.Location{at("f", 10, 11)}, Count: 7}, {Location: pgo.Location{{Func: "f", Start: 10, Line: 11, Disc: 2}}, Count: 5},
			{Location: pgo.Location{{}}, Count: 3}, {Location: pgo.Location{{Func: "n", Line: 3}}, Count: 2},
		},
		Calls: []perfdata.CallCount{
			{Caller: inF, Callee: "h", Count: 20}, {Caller: pgo.Location{at("f", 10, 11)}, Callee: "h", Count: 4},
			{Caller: pgo.Location{at("f", 10, 0)}, Callee: "h", Count: 6}, {Caller: pgo.Location{at("f", 10, 11)}, Callee: "a:5 b", Count: 8},
		},
		Heads: []perfdata.HeadCount{{Func: "h", Count: 30}, {Func: "f", Count: 9}, {Func: "a:5 b", Count: 1}},
	})
	want := strings.Join([]string{"f:112:9", " 1: 7 h:4", " 1.2: 5", " 4: g:100", "  2: 100 h:20", "h:0:30", ""}, "\n")
	if text := written(t, got); text != want {
		t.Errorf("got:\n%s\nwant:\n%s", text, want)
	}
	if out, ok := canonical(t, want); !ok || out != want {
		t.Errorf("llvm-profdata (%v):\n%s", ok, out)
	}
	if want := (Notes{All: 117, NoName: 3, NoLine: 2, NoTarget: 14, Prologue: true}); notes != want {
		t.Errorf("notes %+v; want %+v", notes, want)
	}
	said := strings.Join(notes.Sentences(), "\n")
	for _, want := range []string{"2.6% of the weight is left out: the function's name", "1.7% of the weight is left out: the line", "calls that are left out"} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, without %q", said, want)
		}
	}
}

// TestTargetsAreScaled: a function that mostly loses its caller has as many calls, in total, as it
// has samples, and one without any known caller has none.
func TestTargetsAreScaled(t *testing.T) {
	p := pgo.New(pgo.Samples)
	line := pgo.Location{at("main", 1, 4)}
	for _, x := range []struct {
		callee      string
		known, lost int64
	}{{"most", 2, 598}, {"some", 280, 20}, {"few", 90, 10}, {"never", 0, 50}} {
		for caller, weight := range map[*pgo.Location]int64{&line: x.known, {}: x.lost} {
			if err := p.Add(pgo.Location{at(x.callee, 10, 11)}, *caller, false, weight); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, notes := FromSamples(p)
	if want := "main:0:0\n 3: 0 most:600 some:300 few:100\n"; !strings.Contains(written(t, got), want) || notes.Scaled != 628 {
		t.Errorf("got:\n%s\n%+v; want\n%s", written(t, got), notes, want)
	}
}

// TestTargetsOfTheLost: functions without any known caller may be called from any line, so lines
// with less than ten times as many calls have no targets. Functions that have no callers have not
// lost any.
func TestTargetsOfTheLost(t *testing.T) {
	for _, c := range []struct {
		lost, root int64
		want       string
		biased     int64
	}{
		{600, 0, "main:0:0\n", 400},
		{41, 0, "main:0:0\n", 400},
		{40, 5000, "main:0:0\n 3: 0 some:300 few:100\n", 0},
	} {
		p := pgo.New(pgo.Samples)
		add := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		line := pgo.Location{at("main", 1, 4)}
		add(p.Add(pgo.Location{at("some", 10, 11)}, line, false, 300))
		add(p.Add(pgo.Location{at("few", 20, 21)}, line, false, 100))
		add(p.Add(pgo.Location{at("root", 40, 41)}, nil, false, c.root))
		add(p.AddLost(pgo.Location{at("never", 30, 31)}, c.lost))
		got, notes := FromSamples(p)
		if !strings.HasSuffix(written(t, got), c.want) || notes.Biased != c.biased {
			t.Errorf("%d lost: got:\n%s\n%+v; want\n%s", c.lost, written(t, got), notes, c.want)
		}
	}
}
