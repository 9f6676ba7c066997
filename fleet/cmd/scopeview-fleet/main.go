// Command scopeview-fleet exports traces to Parquet tables, and runs questions about them in
// engines. scopeview export parquet and scopeview sql call it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := newRoot()
	err := root.ExecuteContext(ctx)
	if err != nil && errors.Is(err, ctx.Err()) {
		err = errors.New("interrupted")
	}
	stop()
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "scopeview: %v\n", err)
	var usage *usageError
	if errors.As(err, &usage) {
		os.Exit(2)
	}
	var lossy *lossError
	if errors.As(err, &lossy) {
		os.Exit(3)
	}
	os.Exit(1)
}

// usageError is an error in how the command was called.
type usageError struct{ error }

// lossError reports that traces have losses, if that is an error.
type lossError struct{ error }

func usagef(text string, args ...any) error { return &usageError{fmt.Errorf(text, args...)} }
