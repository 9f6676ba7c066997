package rows_test

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// BenchmarkExporters writes a million scopes: a row is one of them.
func BenchmarkExporters(b *testing.B) {
	for name, write := range map[string]func(w io.Writer, t *trace.Trace) error{
		"chrome": func(w io.Writer, t *trace.Trace) error {
			_, err := chrome.Write(context.Background(), w, t, rows.Options{})
			return err
		},
		"perfetto": func(w io.Writer, t *trace.Trace) error {
			_, err := perfetto.Write(context.Background(), w, t, rows.Options{})
			return err
		},
	} {
		for _, args := range []bool{false, true} {
			b.Run(name+"/args="+strconv.FormatBool(args), func(b *testing.B) { bench(b, tracetest.Bulk(1024, args), write) })
		}
	}
}

func bench(b *testing.B, data []byte, write func(io.Writer, *trace.Trace) error) {
	total := 0
	if err := tracetest.Open(b, data).Events(trace.Options{}, func(e *trace.Event) bool { total++; return true }); err != nil || total < 500_000 {
		b.Fatalf("%d rows, %v", total, err)
	}
	var size counter
	b.ReportAllocs()
	for b.Loop() {
		size = 0
		if err := write(&size, tracetest.Open(b, data)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(size)/float64(total), "B/row")
}

// counter counts the output and discards it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
