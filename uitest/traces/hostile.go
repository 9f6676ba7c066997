package traces

import (
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// hostile uses each of the hostile names in every place where a name can be.
func hostile(int) {
	var done sync.WaitGroup
	var mu sync.Mutex
	for i, name := range tracetest.HostileNames() {
		if i%20 == 0 {
			done.Wait()
		}
		done.Add(1)
		scope.Go(name, func() {
			defer done.Done()
			defer scope.Task(name, scope.KV(name, name), name)()
			defer scope.Lock(&mu, name)()
			scope.Event(name, name)
			scope.Counter(name, i)
			time.Sleep(100 * time.Microsecond)
		})
	}
	done.Wait()
}
