package chrome

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

var update = flag.Bool("update", false, "rewrite what testdata/*.txtar expect")

// TestGolden: each trace is written as in its file, to the byte, and the result is JSON.
func TestGolden(t *testing.T) {
	const head, tail = "-- trace --\n", "-- json --\n"
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			b := filetest.Read(t, path)
			_, lines, _ := strings.Cut(string(b), head)
			lines, want, ok := strings.Cut(lines, tail)
			if !ok {
				t.Fatalf("%s lacks %s", path, tail)
			}
			var got bytes.Buffer
			size, err := Write(context.Background(), &got, tracetest.OpenText(t, lines), rows.Options{Tool: "test", State: analysis.StateClosed})
			if err != nil {
				t.Fatal(err)
			}
			var file struct{ TraceEvents []json.RawMessage }
			if err := json.Unmarshal(got.Bytes(), &file); err != nil {
				t.Error(err)
			}
			if size.Events != int64(len(file.TraceEvents)) || size.Bytes != int64(got.Len()) {
				t.Errorf("%+v are reported, there are %d events in %d bytes", size, len(file.TraceEvents), got.Len())
			}
			if *update {
				before, _, _ := strings.Cut(string(b), tail)
				if err := os.WriteFile(path, []byte(before+tail+got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got.String() != want {
				t.Errorf("%s\nis not what %s has:\n%s", got.String(), path, want)
			}
		})
	}
}
