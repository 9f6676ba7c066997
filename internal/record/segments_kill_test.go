//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"fmt"
	"os"
	"testing"

	. "github.com/scopeview/scopeview/scope"
)

// TestSegmentsKill kills writers while segments are created and deleted: the trace,
// its segments and what was in memory fit together, and nothing is missing except
// what was overwritten.
func TestSegmentsKill(t *testing.T) {
	n := 4
	if os.Getenv("SCOPEVIEW_FAULT") == "full" {
		n = 100
	}
	for name, b := range map[string]BackingKind{"disk": DiskBacking, "shm": ShmBacking} {
		t.Run(name, func(t *testing.T) {
			sum := killMany(t, n, fmt.Sprintf("segments backing=%d", b))
			if sum.behind != 0 {
				t.Errorf("%d scopes are missing", sum.behind)
			}
			t.Log(sum)
		})
	}
}
