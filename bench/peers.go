package main

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/peer"
)

// peerRows measures the peers on one goroutine and on two. Nothing is demanded
// of them; what they lose is said.
func peerRows(b *bench) []row {
	var rows []row
	for _, p := range peer.All() {
		rs, err := b.peer(p)
		if err != nil {
			rs = []row{broken(p.Name(), err)}
		}
		rows = append(rows, rs...)
	}
	return rows
}

func (b *bench) peer(p peer.Peer) ([]row, error) {
	dir, err := os.MkdirTemp(b.dir, "peer-")
	if err != nil {
		return nil, fmt.Errorf("no directory for the peer: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := p.Start(dir); err != nil {
		return nil, err
	}
	p.Loop(peerPlan.size) // warms up
	asked := int64(peerPlan.size) + 3*b.iterations(peerPlan)
	ns := b.medians(peerPlan, timed(floor.Loop), timed(p.Loop), together(p.Loop))
	rec, err := p.Stop()
	if err != nil {
		return nil, err
	}
	one, two := ratio(p.Name(), ns[1], ns[0], 0, 0), ratio("  on two goroutines, each", ns[2], ns[0], 0, 0)
	if lost := asked - rec.Scopes; lost > 0 {
		one.note = fmt.Sprintf("lost %.1f %% of its scopes", 100*float64(lost)/float64(asked))
	}
	return []row{one, two}, nil
}
