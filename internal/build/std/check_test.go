package std

import (
	"context"
	"path/filepath"
	"testing"
)

// TestCheck: every hook is in with the Go version that runs the test, and delivers.
func TestCheck(t *testing.T) {
	module, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Check(context.Background(), "go", nil, module, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(table) {
		t.Errorf("%d results of %d hooks", len(results), len(table))
	}
	for _, r := range results {
		if !r.Works {
			t.Errorf("%s (%s): %s", r.Name, r.What, r.Why)
		}
	}
}
