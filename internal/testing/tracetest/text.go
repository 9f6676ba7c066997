package tracetest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// Assemble returns the file described by lines of text.
func Assemble(t testing.TB, lines string) []byte {
	t.Helper()
	data, err := text.Assemble(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Write writes the file described by lines of text.
func Write(t testing.TB, path, lines string) {
	t.Helper()
	if err := os.WriteFile(path, Assemble(t, lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Open opens a trace in memory.
func Open(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// OpenText opens the trace described by lines of text.
func OpenText(t testing.TB, lines string) *trace.Trace {
	t.Helper()
	return Open(t, Assemble(t, lines))
}
