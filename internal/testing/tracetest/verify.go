package tracetest

import (
	"testing"

	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/trace"
)

// Verify fails a test for each rule of the format that the trace at path breaks, ten
// at most, and for each of its segments that is missing.
func Verify(t testing.TB, path string) {
	t.Helper()
	f, err := hot.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := f.MissingSegments(); n > 0 {
		t.Errorf("%d segments are missing", n)
	}
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	findings, err := trace.Verify(f, size)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range findings {
		if i == 10 {
			t.Errorf("and %d more findings", len(findings)-i)
			break
		}
		t.Errorf("%s at %d: %s", x.Rule, x.Offset, x.Text)
	}
}
