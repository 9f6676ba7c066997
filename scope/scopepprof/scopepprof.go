// Package scopepprof joins the labels of Go's profiles with scopes and rows, both ways. Labels
// become a scope's arguments:
//
//	scopepprof.Do(ctx, pprof.Labels("tenant", tenant), func(ctx context.Context) {
//
// and a row's name becomes the label track of each sample that a CPU profile has of its
// goroutine, whoever takes that: go tool pprof, net/http/pprof, Pyroscope.
//
//	scopepprof.Go(ctx, "worker", work)
//
// The samples in a trace (gotrace.With) have no labels: Go's execution trace does not keep
// them. There it is their goroutine's row and scopes that tell whose they are; scopeview pprof
// makes labels of these, which are called track and scope.
//
// Programs that scopeview run, build or test have built record pprof.Do without this package.
package scopepprof

import (
	"context"
	"runtime/pprof"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// track is the label that has a row's name, as in what scopeview pprof writes.
const track = "track"

// Do is pprof.Do, and f is a scope. It is called by the keys of all labels that hold in f, as
// in pprof.Do(endpoint, tenant), and has these labels as arguments. Where ctx carries a scope of
// scope.Context it is a part of that one.
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

// Track names the calling goroutine's row, as scope.Track does, and has its samples in CPU
// profiles have the name as the label track, beside the labels of ctx. Goroutines that it
// starts inherit the labels, as with pprof.SetGoroutineLabels. The context that is returned has
// them too: given to pprof.Do, the label stays.
func Track(ctx context.Context, name string) context.Context {
	scope.Track(name)
	return label(ctx, name)
}

// Go is scope.Go for a function that is given ctx with the label that Track sets.
func Go(ctx context.Context, name string, f func(context.Context)) {
	scope.Go(name, func() { f(label(ctx, name)) })
}

func label(ctx context.Context, name string) context.Context {
	ctx = pprof.WithLabels(ctx, pprof.Labels(track, name))
	pprof.SetGoroutineLabels(ctx)
	return ctx
}
