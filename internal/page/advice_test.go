package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const grown = "scopeview-advice\t1\tprogram=example.com/p\tgo=go1.26.8\tbuild=\tcpus=2\tns=100000000\tlooked_ns=100000000\n" +
	"slice\tint\tmade=40 exact=40 grown=1198 copied_bytes=264652456 grown_bytes=264652456 cap_bytes=70123520 len_bytes=63203464 max_elem_bytes=8 max_len=219136 min_len=175105 max_cap=219136 h_len=65:18,66:22 h_cap=66:40\tmain.fill /p/fill.go:10\tmain.main /p/main.go:26\n" +
	"end\t1\n"

// TestAdvice: a page has the advice of the raw file beside the trace, and says why where it can't be read.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"x.raw": grown, "bad.raw": "no raw file\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		trace string
		found int // -1: there is no advice
		err   string
	}{{"x.scope", 1, ""}, {"y.scope", -1, ""}, {"bad.scope", 0, "not the beginning of a raw file"}} {
		h := dataOf(t, written(t, tracetest.OpenText(t, head), Options{Path: filepath.Join(dir, c.trace)}))
		switch a := h.Advice; {
		case a == nil:
			if c.found >= 0 {
				t.Errorf("%s: there is no advice", c.trace)
			}
		case c.found < 0 || c.found > 0 && (a.Report == nil || len(a.Findings) != c.found) || c.err == "" != (a.Error == "") || !strings.Contains(a.Error, c.err):
			t.Errorf("%s: %+v, want %d findings and the error %q", c.trace, a, c.found, c.err)
		case strings.Contains(a.Raw, "/"):
			t.Errorf("%s: a page tells where on this machine %s is", c.trace, a.Raw)
		}
	}
	if a := AdviceOf("", nil); a != nil {
		t.Errorf("a trace that is no file has advice: %+v", a)
	}
}
