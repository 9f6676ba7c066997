package main

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// openTrace opens the trace that TRACE means.
func openTrace(arg string) (t *trace.Trace, path string, err error) {
	if path, err = findTrace(arg); err != nil {
		return nil, "", err
	}
	if t, err = trace.OpenFile(path); err != nil {
		return nil, path, err
	}
	return t, path, nil
}

// openFile opens the file that TRACE means, for what reads it raw.
func openFile(arg string) (f *os.File, size int64, err error) {
	path, err := findTrace(arg)
	if err != nil {
		return nil, 0, err
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, fmt.Errorf("opening the trace: %w", err)
	}
	if !st.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w; it is not a regular file", path, format.ErrNotTrace)
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, fmt.Errorf("opening the trace: %w", err)
	}
	return f, st.Size(), nil
}
