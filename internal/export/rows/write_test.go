package rows_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// exporters write a trace, each in its format.
var exporters = map[string]func(context.Context, io.Writer, *trace.Trace, rows.Options) error{
	"chrome": func(ctx context.Context, w io.Writer, t *trace.Trace, o rows.Options) error {
		_, err := chrome.Write(ctx, w, t, o)
		return err
	},
	"perfetto": func(ctx context.Context, w io.Writer, t *trace.Trace, o rows.Options) error {
		_, err := perfetto.Write(ctx, w, t, o)
		return err
	},
}

func TestWriteStops(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Bulk(32, false))
	for name, write := range exporters {
		full := errors.New("no space left on device")
		w := &failing{after: 1, err: full}
		if err := write(context.Background(), w, tr, rows.Options{}); !errors.Is(err, full) || w.writes != 2 || !strings.Contains(err.Error(), "writing ") {
			t.Errorf("%s: %v after %d writes", name, err, w.writes)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var b bytes.Buffer
		if err := write(ctx, &b, tr, rows.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v after %d bytes", name, err, b.Len())
		}
		var progress int64
		if err := write(context.Background(), io.Discard, tr, rows.Options{Selection: analysis.Selection{Progress: func(ns int64) { progress = ns }}}); err != nil || progress == 0 {
			t.Errorf("%s: %v, and progress to %d", name, err, progress)
		}
	}
}

// failing fails after a number of writes.
type failing struct {
	after, writes int
	err           error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes > f.after {
		return 0, f.err
	}
	return len(p), nil
}

// TestWriteDoesNotAllocate: memory does not grow with the records.
func TestWriteDoesNotAllocate(t *testing.T) {
	for name, write := range exporters {
		allocs := func(chunks int) float64 {
			data := tracetest.Bulk(chunks, true)
			return testing.AllocsPerRun(1, func() {
				if err := write(context.Background(), io.Discard, tracetest.Open(t, data), rows.Options{}); err != nil {
					t.Fatal(err)
				}
			})
		}
		// The reader allocates for each chunk, but not for a record: a chunk has 682 of these.
		if few, many := allocs(8), allocs(72); many-few > 64*10 {
			t.Errorf("%s: %v allocations for 8 chunks, %v for 72", name, few, many)
		}
	}
}
