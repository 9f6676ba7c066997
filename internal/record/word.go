//go:build !scope_off

package record

import (
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/internal/sys"
)

const raceBuild = sys.Race

// setWord stores a word that a later publish makes known. The flusher copies chunks word
// by word while they are written, which the format is made for; the race detector would
// not understand a plain store.
func setWord(p *uint64, v uint64) {
	if raceBuild {
		atomic.StoreUint64(p, v)
		return
	}
	*p = v
}

// publish stores the word that makes a record known to readers, after all that
// was stored before. On amd64 stores are seen in program order, which the
// compiler keeps, and an atomic store would be an exchange, which costs as much
// as all else.
func publish(p *uint64, v uint64) {
	if runtime.GOARCH == "amd64" && !raceBuild {
		*p = v
		return
	}
	atomic.StoreUint64(p, v)
}
