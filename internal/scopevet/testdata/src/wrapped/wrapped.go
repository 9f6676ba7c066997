// Package wrapped knows nothing of package scope but through another package.
package wrapped

import "wrapper"

func use(s *wrapper.Store) {
	defer wrapper.Query("a") // want `defer calls wrapper.Query when`
	s.Lock()                 // want `the result of Lock is dropped, so the lock is never unlocked`
	wrapper.Run(nil)
	defer wrapper.Query("a")()
	span := wrapper.Span() // want `the scope that span holds never ends: nothing calls span.End`
	_ = span
}
