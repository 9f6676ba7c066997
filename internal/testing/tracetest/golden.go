package tracetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace/text"
)

// Golden is a trace of internal/trace/testdata: one for each case that a reader may meet.
type Golden struct {
	Name string
	Text string // as in internal/trace/text; or "notrace " and arbitrary bytes
}

var goldenPart = regexp.MustCompile(`(?ms)^-- trace --\n(.*?)^-- \w+ --\n`)

// Goldens returns the goldens. dir is the path of internal/trace from the test's directory.
func Goldens(t testing.TB, dir string) (list []Golden) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "testdata", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens in %s: %v", dir, err)
	}
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		m := goldenPart.FindSubmatch(b)
		if m == nil {
			t.Fatalf("%s has no trace", p)
		}
		list = append(list, Golden{strings.TrimSuffix(filepath.Base(p), ".txtar"), string(m[1])})
	}
	return list
}

// Bytes returns the file.
func (g *Golden) Bytes(t testing.TB) []byte {
	t.Helper()
	if s, ok := strings.CutPrefix(g.Text, "notrace "); ok {
		return []byte(strings.TrimSuffix(s, "\n"))
	}
	b, err := text.Assemble(strings.NewReader(g.Text))
	if err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	return b
}
