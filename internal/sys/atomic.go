//go:build linux && (amd64 || arm64) && go1.26 && !go1.28 && !scope_pure && !scope_go && !race

package sys

import "sync/atomic"

func load(p *uint64) uint64     { return atomic.LoadUint64(p) }
func store(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
