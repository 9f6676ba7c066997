//go:build !scope_off

package hooks

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// annotated makes the calls of package runtime/trace for a task within a task, which ends on
// another goroutine, and those of runtime/pprof for labels.
func annotated() {
	recording()
	next, a, b := task(context.Background(), 1, 0, "job")
	ra, rb := region(next, 1, "read")
	logged(next, 1, "progress", "half", nil)
	logged(context.Background(), 0, "", "%d of %v", []any{1, struct{}{}})
	ended(ra, rb)
	_, ca, cb := task(next, 2, 1, "part")
	done := make(chan bool)
	go func() {
		ended(ca, cb)
		close(done)
	}()
	<-done
	ended(region(next, 0, "alone"))
	ended(a, b)
	ctx := pprof.WithLabels(context.Background(), pprof.Labels("b", "2", "a", "1"))
	ended(labelled(ctx))
	labels(ctx)
}

// TestAnnotationsOff: without a recording nothing begins, and no label is read.
func TestAnnotationsOff(t *testing.T) {
	annotated()
	ctx := pprof.WithLabels(context.Background(), pprof.Labels("a", "1"))
	if n := testing.AllocsPerRun(100, func() {
		next, a, b := task(ctx, 1, 0, "job")
		ended(a, b)
		ended(region(next, 1, "read"))
		ended(labelled(ctx))
		labels(ctx)
		logged(ctx, 0, "", "x", nil)
	}); n != 0 {
		t.Errorf("%v allocations without a recording", n)
	}
}

// TestLabelsHooked: package scopepprof sees that there are hooks.
func TestLabelsHooked(t *testing.T) {
	defer record.LabelsHooked.Store(record.LabelsHooked.Load())
	var do func(ctx any) (a, b int64)
	if labelsHooked(&do); do == nil || !record.LabelsHooked.Load() {
		t.Error("it is not")
	}
}

// TestAnnotations: tasks and what belongs to them are linked like a request's scopes.
func TestAnnotations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	end := recordtest.Begin(t, path)
	annotated()
	end()
	annotated()
	tr := tracetest.OpenFile(t, path)
	lister := args.NewLister(tr.Name)
	names := map[[8]byte]string{}
	var got []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		line := e.Kind.String() + " " + tr.Name(e.Name)
		l, _ := e.Link()
		if l.Span != [8]byte{} {
			names[l.Span] = tr.Name(e.Name)
		}
		if of := names[l.Parent]; of != "" {
			line += " in " + of
		}
		if e.EndGoid != 0 {
			line += " ended by another"
		}
		for _, a := range lister.List(e) {
			switch {
			case strings.HasSuffix(a.Key, "_id"):
			case a.Value.Type == format.SlotString || a.Value.Type == format.SlotType_:
				line += fmt.Sprintf(" %s=%s", a.Key, a.Value.Str)
			default:
				line += fmt.Sprintf(" %s=%d", a.Key, a.Value.Value)
			}
		}
		got = append(got, line)
	}
	want := `task job task=1
task read in job task=1
event progress in job message=half task=1
event log format=%d of %v 0=1 1=struct {}
task part in job ended by another task=2 of task=1
task alone in job
task pprof.Do(a, b) a=1 b=2
event pprof labels a=1 b=2`
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
