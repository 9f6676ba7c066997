//go:build !scope_off && race

package scope

import "sync/atomic"

const raceBuild = true

// setWord stores a word that a later atomic store publishes. The flusher copies
// chunks word by word while they are written, which is what the format is made
// for and what the race detector would not understand.
func setWord(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// publish stores the word that makes a record known to readers.
func publish(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
