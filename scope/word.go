//go:build !scope_off && !race

package scope

import (
	"runtime"
	"sync/atomic"
)

const raceBuild = false

// setWord stores a word that a later publish makes known.
func setWord(p *uint64, v uint64) { *p = v }

// publish stores the word that makes a record known to readers, after all that
// was stored before. On amd64 stores are seen in program order, which the
// compiler keeps, and an atomic store would be an exchange, which costs as much
// as all else.
func publish(p *uint64, v uint64) {
	if runtime.GOARCH == "amd64" {
		*p = v
		return
	}
	atomic.StoreUint64(p, v)
}
