package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/timeline"
	"github.com/scopeview/scopeview/internal/trace"
)

// packed returns the states and samples as in a page.
func packed(t *testing.T, s *timeline.States, x *timeline.Samples) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&timeline.Container{States: s.Tile(0, 1<<40, 0, nil), Samples: x}).WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLoadWithStates: one reading gives the same as two, and the CPU times of scopes.
func TestLoadWithStates(t *testing.T) {
	ctx := context.Background()
	tr := tracetest.OpenFile(t, recordPingPong(t, 2000))
	states, err := timeline.LoadStates(ctx, tr)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := LoadSamples(ctx, tr, analysis.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	want := packed(t, states, samples)
	tr.UseCPU(func() (trace.CPUAt, error) { return nil, errors.New("the Go trace is read once more") })
	states, samples, err = loadWithStates(ctx, tr, analysis.Selection{}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got := packed(t, states, samples); len(got) < 10_000 || !bytes.Equal(got, want) {
		t.Errorf("one reading packs %d bytes, two %d, or others", len(got), len(want))
	}
	known := false
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		known = known || e.Kind == format.KindTask && e.Quality != format.Unknown
		return true
	})
	if err != nil || !known {
		t.Errorf("a scope's CPU time is known: %v; %v", known, err)
	}
}

// breaking is a file whose reads fail once it is broken.
type breaking struct {
	io.ReaderAt
	broken error
}

func (b *breaking) ReadAt(p []byte, off int64) (int, error) {
	if b.broken != nil {
		return 0, b.broken
	}
	return b.ReaderAt.ReadAt(p, off)
}

// TestLoadBroken: if reading fails, both states and samples report it.
func TestLoadBroken(t *testing.T) {
	data := filetest.Read(t, recordPingPong(t, 10))
	f := &breaking{ReaderAt: bytes.NewReader(data)}
	tr, err := trace.Open(f, int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	f.broken = errors.New("the disk is gone")
	states, samples, err := loadWithStates(context.Background(), tr, analysis.Selection{}, false)
	if err != nil || states == nil || samples == nil {
		t.Fatalf("states %v, samples %v, %v", states, samples, err)
	}
	for _, list := range [][]string{states.Problems, samples.Notes} {
		if len(list) != 1 || !strings.Contains(list[0], "could not be read") || !strings.Contains(list[0], "the disk is gone") {
			t.Errorf("it is said that %q", list)
		}
	}
	packed(t, states, samples)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err = loadWithStates(ctx, tr, analysis.Selection{}, false); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled, it is %v", err)
	}
}
