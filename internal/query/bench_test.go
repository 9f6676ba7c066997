package query

import (
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// BenchmarkQuestions answers questions about a million scopes.
func BenchmarkQuestions(b *testing.B) {
	const scopes = 1_000_000
	data, err := bulk.Trace{Shape: bulk.Irregular, Scopes: scopes, Seed: 1}.Bytes()
	if err != nil {
		b.Fatal(err)
	}
	tr := tracetest.Open(b, data)
	for name, text := range map[string]string{
		"count": "SELECT count(*) FROM scopes",
		"sum":   "SELECT sum(dur_ns) FROM scopes",
		"name":  "SELECT name, count(*), sum(dur_ns) FROM scopes WHERE name = 'parse'",
		"long":  "SELECT count(*), sum(dur_ns) FROM scopes WHERE dur_ns > 100000",
		"group": "SELECT name, count(*), sum(dur_ns) FROM scopes GROUP BY name",
		"range": "SELECT count(*) FROM scopes WHERE start_ns BETWEEN 50000000 AND 51000000",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask(b, tr, analysis.Selection{}, text)
			}
			b.ReportMetric(scopes*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}
