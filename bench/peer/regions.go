package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/trace"
	"strings"
	"sync/atomic"

	xtrace "golang.org/x/exp/trace"
)

// Regions are the regions of runtime/trace, written to a file.
type Regions struct {
	file  *os.File
	count int64
	// ReadBack makes Stop read the trace: 10 times slower than recording it.
	ReadBack bool
}

func (*Regions) Name() string { return "runtime/trace regions, to a file" }

// Start starts the execution tracer.
func (r *Regions) Start(dir string) error {
	f, err := os.Create(filepath.Join(dir, "regions.trace"))
	if err != nil {
		return fmt.Errorf("the trace can't be created: %w", err)
	}
	r.file, r.count = f, 0
	return trace.Start(f)
}

//go:noinline
func region(ctx context.Context) { defer trace.StartRegion(ctx, "f1").End() }

// Loop records n regions.
func (r *Regions) Loop(n int) {
	ctx := context.Background()
	for range n {
		region(ctx)
	}
	atomic.AddInt64(&r.count, int64(n)) // two goroutines may be here
}

// Nest records regions in a region.
func (r *Regions) Nest(outer string, inner ...string) {
	ctx := context.Background()
	defer trace.StartRegion(ctx, outer).End()
	for _, name := range inner {
		trace.StartRegion(ctx, name).End()
	}
	r.count += int64(1 + len(inner))
}

// Stop stops the execution tracer. It loses nothing, so without ReadBack it returns the
// requested number of regions.
func (r *Regions) Stop() (Recorded, error) {
	trace.Stop()
	defer r.file.Close()
	if !r.ReadBack {
		return Recorded{Scopes: r.count}, nil
	}
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return Recorded{}, fmt.Errorf("the trace can't be read back: %w", err)
	}
	return readRegions(r.file)
}

func readRegions(f io.Reader) (Recorded, error) {
	rd, err := xtrace.NewReader(f)
	if err != nil {
		return Recorded{}, fmt.Errorf("the trace can't be read back: %w", err)
	}
	rec := Recorded{Paths: make(map[string]int64)}
	open := make(map[xtrace.GoID][]string)
	for {
		e, err := rd.ReadEvent()
		if errors.Is(err, io.EOF) {
			return rec, nil
		}
		if err != nil {
			return rec, fmt.Errorf("the trace can't be read back: %w", err)
		}
		switch g := e.Goroutine(); e.Kind() {
		case xtrace.EventRegionBegin:
			open[g] = append(open[g], e.Region().Type)
		case xtrace.EventRegionEnd:
			if len(open[g]) == 0 {
				return rec, fmt.Errorf("region %s ends without a begin", e.Region().Type)
			}
			rec.Scopes++
			rec.Paths[strings.Join(open[g], "/")]++
			open[g] = open[g][:len(open[g])-1]
		}
	}
}
