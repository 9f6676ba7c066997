package merge

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestGoldens merges each trace of the corpus, broken ones too, with a sound one. A trace that
// breaks no rule keeps its events; any other is read to its end, too.
func TestGoldens(t *testing.T) {
	dir := t.TempDir()
	other := ofText(t, "other.scope", "header id=ff pid=9\nstate closed=1 tick=2000\nchunk blocks sealed\nname 2 \"other\"\nstop ticks=2000\n")
	// Traces that change, and why.
	others := map[string]string{
		"created-later": "no goroutine is made after it began",
		"tracks":        "a goroutine that is not known has an id now",
	}
	sound := 0
	for _, g := range tracetest.Goldens(t, "../trace") {
		data := g.Bytes(t)
		in, err := trace.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil || len(in.Processes()) > 0 {
			continue
		}
		path, out := filepath.Join(dir, g.Name+".scope"), filepath.Join(dir, g.Name+".merged")
		filetest.Write(t, path, data)
		report, err := Files(context.Background(), []Input{{Path: path}, {Path: other}}, out, nil)
		if err != nil {
			if !strings.Contains(err.Error(), "too large to merge") && !strings.Contains(err.Error(), "apart by their clocks") && !strings.Contains(err.Error(), "are invalid") {
				t.Errorf("%s: %v", g.Name, err)
			}
			continue
		}
		number := uint32(0)
		for _, p := range report.Processes {
			if p.Path == path {
				number = p.Number
			}
		}
		m := tracetest.OpenFile(t, out)
		if others[g.Name] == "" {
			same(t, g.Name, lines(t, m, number, 0), lines(t, in, 0, m.Processes()[number-1].From))
		}
		if found, err := trace.Verify(bytes.NewReader(data), int64(len(data))); err == nil && len(found) == 0 {
			sound++
			if problems, err := verified(out); err != nil || len(problems) > 0 {
				t.Errorf("%s: %v %v", g.Name, problems, err)
			}
		}
	}
	if sound < 20 {
		t.Errorf("only %d traces of the corpus break no rule", sound)
	}
}

func verified(path string) ([]trace.Finding, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return trace.Verify(f, st.Size())
}
