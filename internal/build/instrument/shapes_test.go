package instrument_test

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

var update = flag.Bool("update", false, "write what becomes of the shapes in testdata/shapes.txt")

// TestShapes compares the edits of functions of all shapes with testdata/shapes.txt.
func TestShapes(t *testing.T) {
	a, err := txtar.ParseFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		shape, want := a.Files[i], &a.Files[i+1]
		t.Run(shape.Name, func(t *testing.T) {
			got := edited(t, shape)
			if *update {
				want.Data = []byte(got)
			} else if got != string(want.Data) {
				t.Errorf("%s\nwant\n%s", got, want.Data)
			}
		})
	}
	if n := len(a.Files) / 2; n < 40 {
		t.Errorf("there are %d shapes", n)
	}
	if *update {
		filetest.Write(t, "testdata/shapes.txt", txtar.Format(a))
	}
}

// edited returns the edited text of a shape, and a line for each of its functions.
func edited(t *testing.T, shape txtar.File) string {
	t.Helper()
	source := "package p\n\n" + string(shape.Data)
	in := instrument.Input{
		ImportPath: "example.com/p", Name: "p", Hooks: "example.com/hooks",
		Files: map[string][]byte{"a.go": []byte(source)},
		Args:  strings.HasPrefix(shape.Name, "args"),
		LeaveOut: func(name string) (string, bool) {
			return "it is left out", name == "p.leave"
		},
	}
	out, err := instrument.Package(in)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if text, ok := out.Files["a.go"]; ok {
		if _, err := parser.ParseFile(token.NewFileSet(), "a.go", text, 0); err != nil {
			t.Error(err)
		}
		b.WriteString(strings.TrimPrefix(string(text), "package p\n\n"))
	}
	for _, f := range out.Funcs {
		if f.Why != "" {
			fmt.Fprintf(&b, "%d %s: %s\n", f.Line, f.Name, f.Why)
		} else {
			fmt.Fprintf(&b, "%d %s\n", f.Line, f.Name)
		}
	}
	return b.String()
}
