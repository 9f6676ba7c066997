package trace

import (
	"bytes"
	"testing"
)

// BenchmarkEvents reads three million records of four owners from memory; reading from the page
// cache costs the same copy per chunk.
func BenchmarkEvents(b *testing.B) {
	for _, bc := range []struct {
		name   string
		owners int
		apart  bool
	}{{"owners=1", 1, false}, {"owners=4", 4, false}, {"owners=16", 16, false}, {"owners=4/apart", 4, true}} {
		b.Run(bc.name, func(b *testing.B) {
			s := newSynth(bc.owners, 1536)
			s.endsApart = bc.apart
			data := s.load()
			n := 0
			for b.Loop() {
				t, err := Open(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					b.Fatal(err)
				}
				n = 0
				err = t.Events(Options{}, func(e *Event) bool { n++; return true })
				if err != nil || len(t.Problems()) != 0 {
					b.Fatalf("%v, problems %v", err, t.Problems())
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}
