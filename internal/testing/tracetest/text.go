package tracetest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// Assemble is the file that lines of text stand for.
func Assemble(t testing.TB, lines string) []byte {
	t.Helper()
	data, err := text.Assemble(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Write writes the file that lines of text stand for.
func Write(t testing.TB, path, lines string) {
	t.Helper()
	if err := os.WriteFile(path, Assemble(t, lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Open opens a trace that is in memory.
func Open(t testing.TB, data []byte) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// OpenText opens the trace that lines of text stand for.
func OpenText(t testing.TB, lines string) *trace.Trace {
	t.Helper()
	return Open(t, Assemble(t, lines))
}
