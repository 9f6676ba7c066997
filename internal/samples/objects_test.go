package samples

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/glob"
)

// TestSameNames: functions of one name in different objects, or in different C files, are
// different rows; one function is one row, whatever its lines and mappings are.
func TestSameNames(t *testing.T) {
	maps := map[string]*profile.Mapping{}
	q := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}}
	for i, file := range []string{"/bin/a", "/bin/b", "/lib/one.so", "/lib/two.so", "/x/server", "/y/server", "/bin/a"} {
		m := &profile.Mapping{ID: uint64(i + 1), File: file}
		q.Mapping = append(q.Mapping, m)
		maps[fmt.Sprint(file, i/6)] = m
	}
	add := func(mapping, name, file string) {
		f := &profile.Function{ID: uint64(len(q.Function) + 1), Name: name, Filename: file}
		l := &profile.Location{ID: uint64(len(q.Location) + 1), Address: 0x400000, Mapping: maps[mapping], Line: []profile.Line{{Function: f, Line: int64(len(q.Function) + 1)}}}
		q.Function, q.Location = append(q.Function, f), append(q.Location, l)
		q.Sample = append(q.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1}})
	}
	add("/bin/a0", "main.main", "/src/a/main.go")
	add("/bin/a1", "main.main", "/src/a/other.y") // a //line directive
	add("/bin/b0", "main.main", "/src/b/main.go")
	add("/lib/one.so0", "check", "/src/one.c")
	add("/lib/two.so0", "check", "/src/two.c")
	add("/lib/one.so0", "hash", "/src/h1.c")
	add("/lib/one.so0", "hash", "/src/h2.c")
	add("/x/server0", "serve", "/src/x.go")
	add("/y/server0", "serve", "/src/x.go")
	add("/x/server0", "alone", "/src/x.go")
	var b bytes.Buffer
	if err := q.Write(&b); err != nil {
		t.Fatal(err)
	}
	for objects, want := range map[string][]string{
		"": {
			"alone", "check (one.so)", "check (two.so)", "hash (h1.c)", "hash (h2.c)", "main.main (a)", "main.main (a)", "main.main (b)",
			"serve (x/server)", "serve (y/server)",
		},
		"*.so": {"check (one.so)", "check (two.so)", "hash (h1.c)", "hash (h2.c)"},
		"a":    {"main.main (a)", "main.main (a)"}, // those of b are read, and left out
	} {
		sel := anything()
		if objects != "" {
			f, err := glob.Parse(objects)
			if err != nil {
				t.Fatal(err)
			}
			sel.Objects = &f
		}
		p, err := OfPprof(context.Background(), bytes.NewReader(b.Bytes()), sel)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range p.Stacks {
			got = append(got, s.Frames[0].Func)
			if name, _, _ := strings.Cut(s.Frames[0].Func, " ("); p.Symbol(s.Frames[0]) != name {
				t.Errorf("%s has the symbol %s", s.Frames[0].Func, p.Symbol(s.Frames[0]))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("objects %q: got %q, want %q", objects, got, want)
		}
	}
}
