package pgo

import (
	"testing"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// TestNoEdgeOfUnknownCallers: a caller that is unknown, or was cut off, makes no edge, and neither
// does the frame above it.
func TestNoEdgeOfUnknownCallers(t *testing.T) {
	frame := func(name string, line int) *symbols.Frame {
		return &symbols.Frame{Func: name, File: "a.go", Start: 1, Line: line}
	}
	stack := func(frames ...*symbols.Frame) samples.Stack {
		return samples.Stack{Frames: frames, Values: []int64{10}}
	}
	leaf, main := frame("main.leaf", 3), frame("main.main", 5)
	p, err := OfSamples(&samples.Profile{Metrics: []samples.Metric{{Name: "cpu"}}, Stacks: []samples.Stack{
		stack(leaf, frame("main.f", 4), main), stack(leaf, frame(samples.UnknownCallerName, 0), main), stack(leaf, frame(samples.TruncatedName, 0)),
	}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Edges()
	if err != nil {
		t.Fatal(err)
	}
	if want := (Edge{"main.f", "main.leaf", 3}); len(e.Weight) != 1 || e.Weight[want] != 10 {
		t.Errorf("%v", e.Weight)
	}
	if total, err := p.Total(); total != 30 || err != nil {
		t.Errorf("%d of 30 samples are kept: %v", total, err)
	}
}
