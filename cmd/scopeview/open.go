package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/open"
	"github.com/scopeview/scopeview/internal/trace"
)

// openTrace opens the trace that TRACE names, with all data known about it.
func openTrace(ctx context.Context, arg string) (t *trace.Trace, path string, err error) {
	if path, err = findTrace(arg); err != nil {
		return nil, "", err
	}
	t, err = open.File(ctx, path)
	return t, path, err
}

// openFile opens the file that TRACE names, joined with its hot file, for readers of its bytes.
func openFile(ctx context.Context, arg string) (r *trace.Reading, size int64, err error) {
	path, err := findTrace(arg)
	if err != nil {
		return nil, 0, err
	}
	f, err := hot.Open(path)
	if err == nil {
		if size, err = f.Size(); err != nil {
			f.Close()
		}
	}
	if err != nil && !errors.Is(err, format.ErrNotTrace) {
		err = fmt.Errorf("opening the trace: %w", err)
	}
	if err != nil {
		return nil, 0, err
	}
	return &trace.Reading{File: f, Until: ctx}, size, nil
}
