//go:build !scope_off

package record

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

const raceBuild = sys.Race

// setWord stores a word that a later publish makes visible. The flusher copies chunks
// word by word while they are being written, which the format allows for; the race
// detector would report a plain store.
func setWord(p *uint64, v uint64) {
	if raceBuild {
		atomic.StoreUint64(p, v)
		return
	}
	*p = v
}

// publish stores the word that makes a record visible to readers, after everything
// stored before. On amd64, stores become visible in program order, which the compiler
// preserves; an atomic store would be an exchange, and as expensive as everything else
// together.
func publish(p *uint64, v uint64) {
	if runtime.GOARCH == "amd64" && !raceBuild {
		*p = v
		return
	}
	atomic.StoreUint64(p, v)
}
