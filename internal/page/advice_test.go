package page

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestAdvice: a page has the advice of the raw file beside the trace, or the reason why it
// can't be read.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	tracetest.WriteRaw(t, filepath.Join(dir, "x.scope"), tracetest.Grown("int", 100, 10000, "main.fill /p/fill.go:10", "main.main /p/main.go:26"))
	filetest.Write(t, filepath.Join(dir, "bad.raw"), []byte("no raw file\n"))
	for _, c := range []struct {
		trace string
		found int // -1: there is no advice
		err   string
	}{{"x.scope", 1, ""}, {"y.scope", -1, ""}, {"bad.scope", 0, "does not begin a raw file"}} {
		h := dataOf(t, written(t, tracetest.OpenText(t, head), Options{Path: filepath.Join(dir, c.trace)}))
		switch a := h.Advice; {
		case a == nil:
			if c.found >= 0 {
				t.Errorf("%s: there is no advice", c.trace)
			}
		case c.found < 0 || c.found > 0 && (a.Report == nil || len(a.Findings) != c.found) || c.err == "" != (a.Error == "") || !strings.Contains(a.Error, c.err):
			t.Errorf("%s: %+v, want %d findings and the error %q", c.trace, a, c.found, c.err)
		case strings.Contains(a.Raw, "/"):
			t.Errorf("%s: a page contains the directory of %s on this machine", c.trace, a.Raw)
		}
	}
	if a := AdviceOf("", nil); a != nil {
		t.Errorf("a trace that is no file has advice: %+v", a)
	}
}
