//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import (
	"testing"
	"time"
)

func TestDiscoverFindsTheRuntime(t *testing.T) {
	t0 := time.Now()
	l, missing := discover()
	t.Logf("%+v in %v", l, time.Since(t0))
	if missing != "" {
		t.Fatal(missing)
	}
}
