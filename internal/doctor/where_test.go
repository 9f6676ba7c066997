package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestWordsSetNamesApart: Words returns the sentences of Text and Evidence with names passed
// to one function and the rest to the other, and each verdict has advice.
func TestWordsSetNamesApart(t *testing.T) {
	for _, v := range Verdicts {
		if tries[v] == "" || Meanings[v] == "" {
			t.Errorf("%s says nothing of what to try", v)
		}
	}
	same := func(s string) string { return s }
	for _, e := range examples {
		w := play(e.cores, e.program(1))
		if e.prepare != nil {
			e.prepare(w, 1)
		}
		r := w.m.report()
		if len(r.Findings) == 0 {
			t.Fatalf("%s: nothing is found", e.verdict)
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			plain := f.Words(same, same)
			if plain.Text != f.Text || !slices.Equal(plain.Evidence, f.Evidence) || strings.ContainsAny(f.Text+strings.Join(f.Evidence, ""), nameBegins+nameEnds) {
				t.Errorf("%s: %q, %q", f.Verdict, plain, f.Text)
			}
			var names []string
			prose := ""
			f.Words(func(s string) string { names = append(names, s); return "" }, func(s string) string { prose += s; return "" })
			for _, s := range f.Scopes {
				if strings.Contains(f.Text, s+" holds it") && !slices.Contains(names, s) {
					t.Errorf("%s: %q is no name in %q", f.Verdict, s, f.Text)
				}
			}
			if f.Object != "" && strings.Contains(f.Text, f.Object) && !slices.Contains(names, f.Object) {
				t.Errorf("%s: %q is no name in %q", f.Verdict, f.Object, f.Text)
			}
			if f.OfLock() && f.Words(same, same).Holder == "" {
				t.Errorf("%s: nobody holds it", f.Verdict)
			}
		}
	}
}

// TestPlacesOfALock: the places of a lock are where it is waited for, where it is released,
// where it was named, and where the scope begins that holds it.
func TestPlacesOfALock(t *testing.T) {
	w := play(2, examples[0].program(1))
	w.m.given = map[string]trace.Place{
		"words.mu": {Function: "main.(*words).add", File: "/src/words.go", Line: 12},
		"page":     {Function: "main.work", File: "/src/main.go", Line: 30},
	}
	frames := map[uint32]*symbols.Frame{
		900: {Func: "main.(*words).add", File: "/src/words.go", Line: 12},
		901: {Func: "main.(*words).add", File: "/src/words.go", Line: 15},
		902: {Func: "main.other", File: "/src/other.go", Line: 1},
	}
	known := w.m.stack
	w.m.stack = func(id uint32) []*symbols.Frame {
		if f, ok := frames[id]; ok {
			return []*symbols.Frame{{Func: "sync.(*Mutex).Lock", File: "/go/mutex.go", Line: 1}, f}
		}
		return known(id)
	}
	for _, g := range w.m.gs {
		for i := range g.ivs {
			if g.ivs[i].lock >= 0 {
				g.ivs[i].stack = 900
			}
		}
	}
	w.m.wakers = map[wakeup]int64{{900, 901}: 5, {902, 902}: 9}
	f := w.m.report().Findings[0]
	var got []string
	for _, p := range f.places {
		got = append(got, show.Name((&symbols.Frame{Func: p.Function, File: p.File, Line: p.Line}).String())+": "+plain(p.What))
	}
	want := []string{
		"main.(*words).add words.go:15: the holder unlocks it",
		"main.(*words).add words.go:12: goroutines wait for it, and words.mu is first locked",
		"main.work main.go:30: scope page begins",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestOfProgram: the reported line is neither the standard library's nor package scope's.
func TestOfProgram(t *testing.T) {
	for _, c := range []struct{ module, funcs, want string }{
		{"", "runtime.mallocgc strings.(*Builder).grow main.render main.main", "main.render"},
		{"", "encoding/json.Marshal github.com/a/b.(*T).save main.main", "github.com/a/b.(*T).save"},
		{"", "github.com/scopeview/scopeview/scope.Task main.f", "main.f"},
		{"corp", "fmt.Sprint corp/store.Get", "corp/store.Get"},
		{"", "fmt.Sprint corp/store.Get", ""},
		{"", "", ""},
	} {
		var frames []*symbols.Frame
		for _, f := range strings.Fields(c.funcs) {
			frames = append(frames, &symbols.Frame{Func: f})
		}
		got := ""
		if f := ofProgram(frames, c.module); f != nil {
			got = f.Func
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.funcs, got, c.want)
		}
	}
}
