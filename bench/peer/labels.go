package peer

import (
	"context"
	"runtime/pprof"
)

// Labels is pprof.Do: it labels the samples that the CPU profile takes meanwhile,
// and keeps nothing of the scope itself.
type Labels struct{}

func (*Labels) Name() string { return "pprof.Do, which labels samples" }

// Start does nothing: pprof.Do costs the same without a profile.
func (*Labels) Start(string) error { return nil }

func nothing(context.Context) {}

// Loop labels n times.
func (*Labels) Loop(n int) {
	ctx, labels := context.Background(), pprof.Labels("scope", "f1")
	for range n {
		pprof.Do(ctx, labels, nothing)
	}
}

// Nest labels within a label.
func (*Labels) Nest(outer string, inner ...string) {
	pprof.Do(context.Background(), pprof.Labels("scope", outer), func(ctx context.Context) {
		for _, name := range inner {
			pprof.Do(ctx, pprof.Labels("scope", name), nothing)
		}
	})
}

// Stop reports that nothing was kept.
func (*Labels) Stop() (Recorded, error) { return Recorded{KeepsNone: true}, nil }
