//go:build !scope_off

package hooks

import (
	"context"
	"runtime/pprof"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
)

// labelled is called when pprof.Do is about to call its function with ctx.
func labelled(ctx any) (a, b int64) {
	if atomic.LoadUint32(&sys.Live.On) == record.Off {
		return 0, 0
	}
	args := labelsOf(ctx)
	h := record.BeginTask(record.LabelsName(args), partOf(ctx, args))
	return h.Loc, h.Start
}

// labels is called when pprof.SetGoroutineLabels sets ctx's labels on the goroutine.
func labels(ctx any) {
	if atomic.LoadUint32(&sys.Live.On) != record.Off {
		record.Event("pprof labels", labelsOf(ctx))
	}
}

// labelsOf returns a context's profiler labels as arguments.
func labelsOf(ctx any) (args []any) {
	if c, ok := ctx.(context.Context); ok {
		pprof.ForLabels(c, func(key, value string) bool {
			args = append(args, record.KV(key, value))
			return true
		})
	}
	return args
}

// labelsHooked is called if the standard library has these hooks.
func labelsHooked(do *func(ctx any) (a, b int64)) {
	*do = labelled
	record.LabelsHooked.Store(true)
}
