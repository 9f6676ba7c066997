package main

import (
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// dearest are the bombs that come nearest to the limits of reading.
var dearest = []string{
	"tasks of a goroutine each", "tasks of a goroutine each, all at once", "open tasks of a goroutine each",
	"tasks that end in the order in which they began",
	"pending events that all come at the end", "heartbeats of a value", "verbs without end",
}

// TestG24Tool: for files that claim to hold more than they do, or are as expensive as possible, no
// command exceeds the limits of reading. Each file is read by a quarter of the commands, in turn, and
// the dearest ones, of 1 MiB, by the dearest commands.
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
			r.readSome(b.Data)
		})
	}
	if !full() {
		// The fixed allowance of a small file would hide the cost of each of its bytes.
		for _, b := range tracetest.Bombs(1 << 20) {
			if !slices.Contains(dearest, b.Name) {
				continue
			}
			t.Run("MiB of "+b.Name, func(t *testing.T) {
				r.t = t
				for _, args := range [][]string{{"export csv"}, {"html"}, {"export chrome"}, {"info"}, {"export", "otlp", "--name", "*"}} {
					r.read(args, b.Data)
				}
			})
		}
	}
	t.Logf("G24: %d files of %d KiB, %d calls of the tool: none failed otherwise than it says, %s", len(bombs), size>>10, r.calls, r.worst())
}
