package build

import (
	"context"
	"testing"
)

// TestHooks: every hook is possible with the Go version of the test, and works.
func TestHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the standard library")
	}
	list, version, err := CheckHooks(context.Background(), opened(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 13 {
		t.Errorf("%s: %d hooks", version, len(list))
	}
	for _, h := range list {
		if !h.Works {
			t.Errorf("%s: %s (%s): %s", version, h.Name, h.What, h.Why)
		}
	}
}
