//go:build unix

package export

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/fleet/internal/tables"
	"github.com/scopeview/scopeview/internal/testing/bulk"
)

// BenchmarkTrace exports the records of traces, and their histograms.
func BenchmarkTrace(b *testing.B) {
	for _, shape := range []bulk.Shape{bulk.Irregular, bulk.Rows, bulk.Args} {
		b.Run(string(shape), func(b *testing.B) {
			const scopes = 2_000_000
			path := bulkTrace(b, bulk.Trace{Shape: shape, Scopes: scopes, Seed: 1})
			var bytes int64
			before := cpuTime(b)
			for b.Loop() {
				out, err := store.Open(b.TempDir())
				if err != nil {
					b.Fatal(err)
				}
				_, err = Trace(context.Background(), path, out, Options{Tables: []*tables.Table{tables.Scopes, tables.Durations}})
				if err != nil {
					b.Fatal(err)
				}
				list, err := out.List(context.Background(), "scopes/")
				if err != nil {
					b.Fatal(err)
				}
				bytes = 0
				for _, o := range list {
					bytes += o.Size
				}
			}
			b.ReportMetric(float64(bytes)/scopes, "B/scope")
			b.ReportMetric(scopes*float64(b.N)/(cpuTime(b)-before).Seconds()/1e6, "Mscopes/cpu-s")
		})
	}
}

// cpuTime returns the CPU time of the process: others use the machine, too.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
