package timeline

import (
	"context"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// loaded returns a trace from its text form, with an index.
func loaded(t *testing.T, script string) (*trace.Trace, *Index) {
	t.Helper()
	tr := tracetest.OpenText(t, script)
	x, err := Load(context.Background(), tr, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return tr, x
}

// TestCool: the page reports missing data that was in memory, and its place.
func TestCool(t *testing.T) {
	const missing = "Records since the last round (a second) may be missing: they were in memory, in scopeview-00000000000000000000000000000000.hot, which is not here."
	for _, c := range []struct{ state, writer, want string }{
		{"", WriterGone, "The program (process 1) ended, or was killed, without Stop: its records up to then are here, except for the end. " + missing},
		{"", WriterRunning, missing},
		{"joined=1", WriterGone, "The program (process 1) ended, or was killed, without Stop: its records up to then are here."},
		{"closed=1", WriterClosed, ""},
	} {
		tr, x := loaded(t, "header clock=monotonic start=1000 backing=shm\nstate "+c.state+"\nchunk blocks\nname 2 \"f1\"\n")
		var got []string
		for _, s := range x.Meta(tr, MetaOptions{Writer: c.writer}).Banner {
			if s.Level == "warn" {
				got = append(got, s.Text)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s, %s: %q, want %q", c.state, c.writer, text, c.want)
		}
	}
}
