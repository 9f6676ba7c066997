package main

import (
	"fmt"
	"os"
	"time"

	"github.com/scopeview/scopeview/bench/floor"
	"github.com/scopeview/scopeview/bench/hot"
	"github.com/scopeview/scopeview/bench/peer"
)

// peerRows measures the peers on one goroutine and on two, without limits; losses are noted.
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
	plan := peerPlan
	const probe = 10_000
	if hot.Timed(p.Loop)(probe) > probe*2*time.Microsecond {
		plan.size /= 10 // gigabytes of JSON are not more informative than hundreds of megabytes
	}
	p.Loop(plan.size) // warms up
	asked := probe + int64(plan.size) + 3*b.iterations(plan)
	ts := b.measure(plan, hot.Timed(floor.Loop), hot.Timed(p.Loop), hot.Together(p.Loop))
	rec, err := p.Stop()
	if err != nil {
		return nil, err
	}
	one, two := ratio(p.Name(), ts.ns(1), ts.to(1, 0), 0, 0), ratio("  on two goroutines, each", ts.ns(2), ts.to(2, 0), 0, 0)
	if lost := asked - rec.Scopes; rec.KeepsNone {
		one.note = "keeps no scopes"
	} else if lost > 0 {
		one.note = fmt.Sprintf("lost %.1f %% of its scopes", 100*float64(lost)/float64(asked))
	}
	return []row{one, two}, nil
}
