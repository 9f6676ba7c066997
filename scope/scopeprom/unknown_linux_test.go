//go:build !scope_off && !scope_pure && !race

package scopeprom_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/scope"
)

// TestUnknown: another process overwrites the counters in the trace while it is being
// written. The gauge reports that the losses are unknown, and no counter shows the stored
// values.
func TestUnknown(t *testing.T) {
	s := newScraper(t, "")
	start(t, scope.WithBacking(scope.DiskBacking))
	scope.Task("a")()
	before := s.scrape(t)
	if m := before["lost_records_unknown"]; m == nil || value(m) != 0 {
		t.Fatalf("of counters that nobody changed the gauge is %v", m)
	}
	f, err := os.OpenFile(scope.Path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, format.ChunkSize-format.CountersOffset), format.CountersOffset); err != nil {
		t.Fatal(err)
	}
	scope.Task("a")()
	for _, when := range []string{"while it records", "after Stop"} {
		m := s.scrape(t)
		if value(m["lost_records_unknown"]) != 1 {
			t.Errorf("%s: the gauge does not say that it is unknown", when)
		}
		for name, c := range m {
			if strings.HasPrefix(name, "lost_records_total") && (value(c) < value(before[name]) || value(c) > 1000) {
				t.Errorf("%s: %s is %v, and before it was %v", when, name, value(c), value(before[name]))
			}
		}
		_ = scope.Stop()
	}
}
