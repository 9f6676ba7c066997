//go:build scope_off

package scopepprof

import (
	"context"

	"github.com/scopeview/scopeview/scope"
)

func begin(context.Context) scope.Span { return scope.Span{} }
