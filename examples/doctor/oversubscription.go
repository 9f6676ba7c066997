package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"github.com/scopeview/scopeview/scope"
)

// graph is a job's own data. The data of two jobs fit into the cache, those of many do not.
type graph []uint32

func newGraph(seed uint64) graph {
	const nodes = 64 << 10 // 256 KiB
	g := make(graph, nodes)
	order := rand.New(rand.NewPCG(seed, 0)).Perm(nodes)
	for i, n := range order {
		g[n] = uint32(order[(i+1)%nodes])
	}
	return g
}

// walk follows the graph from a node for n steps.
func (g graph) walk(at uint32, steps int) uint32 {
	for range steps {
		at = g[at]
	}
	return at
}

// oversubscription walks through graphs, each in many small parts. After each part a
// worker lets others run, so that no job has to wait for long. By strength, there are
// more workers: 2 at 0 and 32 at 1. Mended there are 2.
//
// What it costs is the cache: when a worker goes on, the others have used it. On two
// processors a program that only computes loses nothing by having too many workers.
func oversubscription(o options) func() uint64 {
	const steps = 3000
	parts := o.many(400)
	graphs := make([]graph, 128)
	for i := range graphs {
		graphs[i] = newGraph(uint64(i))
	}
	workers := processors
	if !o.mended {
		workers *= int(math.Pow(16, o.strength))
	}
	return func() uint64 {
		var sum atomic.Uint64
		var next atomic.Int64
		inParallel(workers, func(int) {
			for n := int(next.Add(1)) - 1; n < len(graphs); n = int(next.Add(1)) - 1 {
				end := scope.Task("walk", n)
				at := uint32(0)
				for range parts {
					at = graphs[n].walk(at, steps)
					runtime.Gosched()
				}
				sum.Add(uint64(at))
				end()
			}
		})
		return sum.Load()
	}
}
