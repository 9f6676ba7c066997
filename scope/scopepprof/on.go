//go:build !scope_off

package scopepprof

import (
	"context"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/scope"
)

// begin begins a scope for a context's labels.
func begin(ctx context.Context) scope.Span {
	args := Labels(ctx)
	name := record.LabelsName(args)
	if l, ok := scope.LinkOf(ctx); ok {
		args = append(args, scope.Link{Trace: l.Trace, Parent: l.Span})
	}
	return scope.Begin(name, args...)
}
