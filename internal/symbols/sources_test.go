package symbols

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestSources finds a file at its original path, by a map, and for -trimpath builds in the
// modules' cache, in Go's root and in the main module.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		path := filepath.Join(dir, name)
		filetest.Write(t, path, []byte(name+"\r\nsecond\n"))
	}
	for _, name := range []string{"here.go", "new/a.go", "newer/deep/b.go", "root/src/sync/mutex.go", "cache/example.com/!big/m@v1.2.3/x.go", "main/cmd/main.go"} {
		write(name)
	}
	s := Sources{
		Map:   [][2]string{{"/old/", dir + "/new/"}, {"/old/deep/", dir + "/newer/deep/"}},
		asked: true, root: dir + "/root", cache: dir + "/cache", module: "example.com/main", dir: dir + "/main",
	}
	for file, want := range map[string]string{
		dir + "/here.go": "here.go", "/old/a.go": "new/a.go", "/old/deep/b.go": "newer/deep/b.go", "sync/mutex.go": "root/src/sync/mutex.go",
		"example.com/Big/m@v1.2.3/x.go": "cache/example.com/!big/m@v1.2.3/x.go", "example.com/main/cmd/main.go": "main/cmd/main.go",
	} {
		lines, path, err := s.Read(file)
		if err != nil || !slices.Equal(lines, []string{want, "second"}) || path != filepath.Join(dir, want) {
			t.Errorf("%s: %q, %s, %v", file, lines, path, err)
		}
	}
	_, _, err := s.Read("/old/none.go")
	var none *NoSourceError
	if !errors.As(err, &none) || len(none.Tried) != 2 || !strings.Contains(err.Error(), dir+"/new/none.go, /old/none.go; give the directory with --path-map") {
		t.Errorf("%v", err)
	}
	if _, err := ParseMap("nothing"); err == nil {
		t.Error("a map without =")
	}
}

func TestParseRemark(t *testing.T) {
	for line, want := range map[string]Remark{
		"./a.go:3:4: can inline (*T).M with cost 85 as: method(*T) func(int) int { x }": {Kind: CanInline, Text: "can inline (*T).M: cost 85", Func: "(*T).M", Cost: 85},
		"./a.go:3:4: inlining call to p.F with score -9":                                {Kind: Inlined, Text: "inlining call to p.F with score -9", Func: "p.F"},
		"./a.go:3:4: cannot inline F: call to recover":                                  {Kind: CannotInline, Text: "cannot inline F: call to recover", Func: "F", Why: "call to recover"},
		"./a.go:3:4: function F considered 'big'; x":                                    {Text: "function F considered 'big'; x"},
		"./a.go:3:4:   flow: moved to heap: x":                                          {Text: "  flow: moved to heap: x"},
	} {
		want.Line, want.Column = 3, 4
		if file, r, ok := ParseRemark(line); file != "./a.go" || r != want || !ok {
			t.Errorf("%s: %q, %+v, %t", line, file, r, ok)
		}
	}
	// Lines numbered by a //line directive without a column.
	if file, r, ok := ParseRemark("gen.y:10: inlining call to f"); file != "gen.y" || r != (Remark{Line: 10, Kind: Inlined, Text: "inlining call to f", Func: "f"}) || !ok {
		t.Errorf("without a column: %q, %+v, %t", file, r, ok)
	}
	if _, _, ok := ParseRemark("hot-callsite-thres-from-CDF=1"); ok {
		t.Error("a line without a place is a remark")
	}
}

// TestRemarks: the compiler's remarks about the program with known properties.
func TestRemarks(t *testing.T) {
	path, err := filepath.Abs(filepath.Join("testdata", "prog", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Remarks(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Remark{
		{Line: 7, Kind: CanInline, Text: "can inline third: cost 6", Func: "third", Cost: 6}, {Line: 13, Kind: Bounds, Text: "the index is checked"},
		{Line: 18, Kind: Escapes, Text: "moved to heap: x"}, {Line: 12, Kind: CannotInline, Text: "cannot inline index: marked go:noinline", Func: "index", Why: "marked go:noinline"},
		{Line: 34, Kind: Inlined, Text: "inlining call to third", Func: "third"}, {Line: 38, Kind: Inlined, Text: "inlining call to third", Func: "third"},
	} {
		if !slices.ContainsFunc(list, func(r Remark) bool { r.Column = 0; return r == want }) {
			t.Errorf("no %+v in %+v", want, list)
		}
	}
	if r := parseRemarks([]byte("./a.go:3:4: cannot inline f: function too complex: cost 131 exceeds budget 80\n./a.go:3:4:   flow: x\n./b.go:1:1: moved to heap: y\nnoise\n"), "a.go"); len(r) != 1 || r[0].Text != "cannot inline f: cost 131 exceeds 80" {
		t.Errorf("%+v", r)
	}
	if _, err := Remarks(t.Context(), filepath.Join(t.TempDir(), "main.go")); err == nil || !strings.Contains(err.Error(), "go build in") {
		t.Errorf("where nothing can be built: %v", err)
	}
}
