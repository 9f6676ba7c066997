package main

import (
	"os"
	"runtime"
	"time"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/format"
)

// sampler records the samples of a recorder: its numbers are made up, its times and addresses are
// not.
type sampler struct {
	r    collect.Recording
	base time.Time
	last int64 // ns since then
}

func (c *sampler) Start(r collect.Recording) {
	c.r, c.base = r, time.Now()
	pcs := make([]uintptr, 50)
	pcs = pcs[:runtime.Callers(1, pcs)]
	frames, s := runtime.CallersFrames(pcs), format.Stack{ID: format.CodeStacks}
	for id, more := uint32(format.CodeFrames), true; more; id++ {
		var f runtime.Frame
		f, more = frames.Next()
		r.Block(format.BlockFrame, format.AppendFrame(nil, &format.Frame{ID: id, Function: f.Function, File: f.File, Line: uint32(f.Line), Inlined: f.Func == nil}))
		s.Frames = append(s.Frames, id)
	}
	r.Block(format.BlockStack, format.AppendStack(nil, &s))
	code := format.Code{Stack: s.ID}
	for _, pc := range pcs {
		code.PCs = append(code.PCs, uint64(pc))
	}
	r.Block(format.BlockCode, format.AppendCode(nil, &code))
}

func (c *sampler) Beat() {
	now := int64(time.Since(c.base))
	for _, counter := range [][2]string{{"task-clock", "nanoseconds"}, {"page-faults", "count"}} {
		s := format.Samples{Thread: uint32(os.Getpid()), Base: 1e9 + c.last, Until: 1e9 + now, Lost: now % 3, Counter: counter[0], Unit: counter[1]}
		for at := s.Base; at < s.Until; at += 1e6 {
			s.List = append(s.List, format.CodeSample{Time: at, Kernel: at%2 == 1, CPU: uint32(at % 5), Weight: 1 + at%1e6, Stack: format.CodeStacks * uint32(at%7&1)})
		}
		c.r.Block(format.BlockSamples, format.AppendSamples(nil, &s))
	}
	c.last = now
}

func (c *sampler) Snapshot() {}
func (c *sampler) Stop()     {}
