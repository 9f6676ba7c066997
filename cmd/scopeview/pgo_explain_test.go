package main

import (
	"testing"

	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/pgo/source"
)

// TestBecame: only edges that the source has lost are gone.
func TestBecame(t *testing.T) {
	for r := range source.Reasons {
		verdict, text := sourceVerdict(r)
		if text == "" || (verdict == explain.Gone) != r.Lost() || (verdict == explain.Unknown) != (r.Found() || r == source.NotLoaded) {
			t.Errorf("%s: %q, %q", r, verdict, text)
		}
	}
}
