package main

import (
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// dearest are the bombs that come nearest to what reading may take.
var dearest = []string{
	"tasks of a goroutine each", "tasks of a goroutine each, all at once", "open tasks of a goroutine each",
	"tasks that end in the order in which they began",
	"pending events that all come at the end", "heartbeats of a value", "verbs without end",
}

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
	if !full() {
		// What a small file may take beside its size would hide what each of its bytes takes.
		for _, b := range tracetest.Bombs(1 << 20) {
			if !slices.Contains(dearest, b.Name) {
				continue
			}
			t.Run("MiB of "+b.Name, func(t *testing.T) {
				r.t = t
				for _, args := range [][]string{{"csv"}, {"html"}, {"chrome"}, {"info"}, {"export", "otlp", "--name", "*"}} {
					r.read(args, b.Data)
				}
			})
		}
	}
	t.Logf("G24: %d files of %d KiB, %d calls of the tool: none failed otherwise than it says, %s", len(bombs), size>>10, r.calls, r.worst())
}
