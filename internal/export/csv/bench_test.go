package csv

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

func BenchmarkCSV(b *testing.B) {
	for _, args := range []bool{false, true} {
		b.Run("args="+strconv.FormatBool(args), func(b *testing.B) {
			data := tracetest.Bulk(1024, args)
			var rows, size int64
			b.ReportAllocs()
			for b.Loop() {
				var w counter
				if err := Write(context.Background(), &w, tracetest.Open(b, data), Options{}); err != nil {
					b.Fatal(err)
				}
				rows, size = w.rows-1, w.bytes
			}
			if rows < 100_000 {
				b.Fatalf("%d rows", rows)
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
		})
	}
}

// counter counts the output and discards it.
type counter struct{ rows, bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.rows += int64(bytes.Count(p, []byte("\n")))
	c.bytes += int64(len(p))
	return len(p), nil
}

var _ io.Writer = (*counter)(nil)
