package goscopes_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gotrace"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	scopetrace "github.com/scopeview/scopeview/internal/trace"
)

// TestMisuse: regions and tasks that are ended twice, on another goroutine, or not at all are one
// scope each, as in a recording of the program, and the misuses are counted as there.
func TestMisuse(t *testing.T) {
	b := filetest.Read(t, "testdata/misuse.trace")
	tr := converted(t, b)
	var got []string
	lister := args.NewLister(tr.Name)
	for e := range tracetest.Events(t, tr, scopetrace.Options{AsRecorded: true}) {
		if e.Kind == format.KindTask {
			early, never := false, false
			for _, a := range lister.List(e) {
				early, never = early || a.Key == "began", never || a.Key == "never_ended"
			}
			got = append(got, fmt.Sprintf("%s %.1fms by another %v, early %v, open %v, never ended %v", tr.Name(e.Name), float64(e.Dur)/1e6, e.EndGoid != 0, early, e.Open, e.Left && never))
		}
	}
	want := []string{
		"left 1.2ms by another false, early false, open true, never ended true",
		"outer 4.2ms by another false, early false, open false, never ended false",
		"inner 1.5ms by another false, early false, open false, never ended false",
		"again 0.0ms by another false, early false, open false, never ended false",
		"shared 1.7ms by another false, early false, open false, never ended false",
		"shared 0.0ms by another false, early false, open false, never ended false",
		"job 1.1ms by another false, early false, open false, never ended false",
		"handed 1.1ms by another true, early false, open false, never ended false",
		"to main 1.7ms by another true, early false, open false, never ended false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	last := tr.Beats()[len(tr.Beats())-1]
	if double, _ := last.Value(format.FieldDoubleEnds); double != 4 {
		t.Errorf("%d double ends, want 4", double)
	}
	if foreign, _ := last.Value(format.FieldForeignEnds); foreign != 2 {
		t.Errorf("%d foreign ends, want 2", foreign)
	}
	// Go's decoder refuses such regions. The states of goroutines are read all the same.
	info, err := gotrace.ReadPlain(bytes.NewReader(b), gotrace.Handler{})
	if err != nil || len(info.Problems) > 0 || info.Transitions < 100 {
		t.Errorf("%d transitions, %q, %v", info.Transitions, info.Problems, err)
	}
}
