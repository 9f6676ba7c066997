//go:build !scope_off

package record

import (
	"fmt"
	"testing"
)

// TestLabelsName: invented keys do not create more names than there is room for.
func TestLabelsName(t *testing.T) {
	names := map[string]bool{}
	for i := range 2 * maxLabelNames {
		names[LabelsName([]any{KV(fmt.Sprint("k", i), "v"), KV("l", "v")})] = true
	}
	if !names["pprof.Do(k0, l)"] || len(names) > maxLabelNames+1 {
		t.Errorf("%d names, with that of the first: %v", len(names), names["pprof.Do(k0, l)"])
	}
}
