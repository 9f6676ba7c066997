package csv

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestWrite reads back a trace of several buffers.
func TestWrite(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Bulk(8, true))
	var b bytes.Buffer
	var progress int64
	if err := Write(context.Background(), &b, tr, Options{Selection: analysis.Selection{Progress: func(ns int64) { progress = ns }}}); err != nil {
		t.Fatal(err)
	}
	rows := parse(t, b.String())
	records := 0
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		if e.Kind.Spec().CSV != "" {
			records++
		}
	}
	if len(rows) != records+1 || strings.Join(rows[0], ",")+"\n" != Header {
		t.Errorf("%d rows for %d records; the first is %q", len(rows), records, rows[0])
	}
	if records > 1<<14 && progress == 0 {
		t.Error("no progress is reported")
	}
}

func TestWriteStops(t *testing.T) {
	tr := tracetest.Open(t, tracetest.Bulk(32, false))
	full := errors.New("no space left on device")
	w := &failing{after: 1, err: full}
	if err := Write(context.Background(), w, tr, Options{}); !errors.Is(err, full) || w.writes != 2 {
		t.Errorf("%v after %d writes", err, w.writes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var b bytes.Buffer
	if err := Write(ctx, &b, tr, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after %d bytes", err, b.Len())
	}
}

// TestWriteNothingChosen: a selection without events gives only the header.
func TestWriteNothingChosen(t *testing.T) {
	none, err := glob.Parse("nothing")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(context.Background(), &b, tracetest.Open(t, tracetest.Bulk(2, false)), Options{Selection: analysis.Selection{Names: none}}); err != nil || b.String() != Header {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// failing fails after a number of writes.
type failing struct {
	after, writes int
	err           error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.writes++; f.writes > f.after {
		return 0, f.err
	}
	return len(p), nil
}
