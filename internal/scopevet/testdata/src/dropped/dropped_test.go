package dropped

import (
	"testing"

	"github.com/scopeview/scopeview/scope"
)

func BenchmarkTask(b *testing.B) {
	for b.Loop() {
		scope.Task("an empty scope")()
		scope.Begin("another").End()
	}
	defer scope.Task("a") // want `defer calls scope.Task when`
}
