package main

import (
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG24Tool: files that claim to hold more than they do, or are as dear as can be, cost
// every command no more than reading may.
func TestG24Tool(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	size := 1 << 17
	if full() {
		size = 1 << 20
	}
	bombs := tracetest.Bombs(size)
	r := newReader(t)
	for _, b := range bombs {
		t.Run(b.Name, func(t *testing.T) {
			r.t = t
			r.readAll(b.Data, false)
		})
	}
	t.Logf("G24: %d files of %d KiB, %d calls of the tool: none failed otherwise than it says, %s", len(bombs), size>>10, r.calls, r.worst())
}
