// Package scopepprof connects the labels of Go's profiles with scopes and rows, both ways.
// Labels become a scope's arguments:
//
//	scopepprof.Do(ctx, pprof.Labels("tenant", tenant), func(ctx context.Context) {
//
// and a row's name becomes the label track of each sample of its goroutine in a CPU profile,
// whichever tool takes it: go tool pprof, net/http/pprof, Pyroscope.
//
//	scopepprof.Go(ctx, "worker", work)
//
// The samples in a trace (gotrace.With) have no labels: Go's execution trace does not keep them.
// There they belong to their goroutine's row and scopes; scopeview export pprof turns these into the
// labels track and scope.
//
// Programs built by scopeview run, build or test record pprof.Do without this package.
package scopepprof

import (
	"context"
	"runtime/pprof"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// track is the label for a row's name, as in the output of scopeview export pprof.
const track = "track"

// Do is pprof.Do, and records f as a scope. Its name consists of the keys of all labels that
// hold in f, as in pprof.Do(endpoint, tenant), and its arguments are these labels. If ctx
// carries a scope of scope.Context, that is its parent.
func Do(ctx context.Context, labels pprof.LabelSet, f func(context.Context)) {
	if !scope.Enabled() || record.LabelsHooked.Load() {
		pprof.Do(ctx, labels, f)
		return
	}
	pprof.Do(ctx, labels, func(ctx context.Context) {
		defer begin(ctx).End()
		f(ctx)
	})
}

// Labels returns the labels of a context as arguments of a scope:
//
//	defer scope.Task("query", scopepprof.Labels(ctx)...)()
func Labels(ctx context.Context) (args []any) {
	pprof.ForLabels(ctx, func(key, value string) bool {
		args = append(args, scope.KV(key, value))
		return true
	})
	return args
}

// Track names the calling goroutine's row, as scope.Track does, and sets the name as the label
// track of the goroutine's samples in CPU profiles, in addition to the labels of ctx. Goroutines
// that it starts inherit the labels, as with pprof.SetGoroutineLabels. The returned context has
// them too: pass it to pprof.Do to keep the label.
func Track(ctx context.Context, name string) context.Context {
	scope.Track(name)
	return label(ctx, name)
}

// Go is scope.Go for a function that takes ctx, with the label that Track sets.
func Go(ctx context.Context, name string, f func(context.Context)) {
	scope.Go(name, func() { f(label(ctx, name)) })
}

func label(ctx context.Context, name string) context.Context {
	ctx = pprof.WithLabels(ctx, pprof.Labels(track, name))
	pprof.SetGoroutineLabels(ctx)
	return ctx
}
