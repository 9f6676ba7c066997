package scopepprof

import (
	"bytes"
	"context"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// profiled returns the labels that a goroutine profile shows for this goroutine, and for
// others of its function.
func profiled(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		t.Fatal(err)
	}
	for g := range strings.SplitSeq(b.String(), "\n\n") {
		if _, labels, ok := strings.Cut(g, "# labels: "); ok && strings.Contains(g, "scopepprof.profiled") {
			labels, _, _ = strings.Cut(labels, "\n")
			return labels
		}
	}
	return ""
}

// TestLabels: profiles have the labels with and without a recording, and scopes have the
// arguments.
func TestLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	ctx := pprof.WithLabels(context.Background(), pprof.Labels("tenant", "blue"))
	do := func() {
		done := make(chan bool)
		Go(ctx, "worker", func(ctx context.Context) {
			defer close(done)
			Do(ctx, pprof.Labels("endpoint", "/x"), func(ctx context.Context) {
				if got, want := profiled(t), `{"endpoint":"/x", "tenant":"blue", "track":"worker"}`; got != want {
					t.Errorf("in Do the labels are %s, want %s", got, want)
				}
				scope.Task("inside", Labels(ctx)...)()
			})
			if got, want := profiled(t), `{"tenant":"blue", "track":"worker"}`; got != want {
				t.Errorf("behind Do the labels are %s, want %s", got, want)
			}
			ctx = Track(ctx, "idler")
			if got, _ := pprof.Label(ctx, "track"); got != "idler" || !strings.Contains(profiled(t), `"track":"idler"`) {
				t.Errorf("the row is called idler, and the label %q", got)
			}
		})
		<-done
	}
	do()
	end := recordtest.Begin(t, path)
	if !scope.Enabled() {
		return
	}
	request, span := scope.Context(ctx, "request")
	ctx = request
	do()
	span.End()
	end()
	tr := tracetest.OpenFile(t, path)
	lister := args.NewLister(tr.Name)
	var got []string
	var asked, part format.Link
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		line := tr.Name(e.Name)
		switch l, _ := e.Link(); line {
		case "request":
			asked = l
			continue
		case "pprof.Do(endpoint, tenant, track)":
			part = l
		}
		for _, a := range lister.List(e) {
			if !strings.HasSuffix(a.Key, "_id") {
				line += " " + a.Key + "=" + string(a.Value.Str)
			}
		}
		got = append(got, line)
	}
	const labels = " endpoint=/x tenant=blue track=worker"
	if want := []string{"worker", "pprof.Do(endpoint, tenant, track)" + labels, "inside" + labels, "idler"}; !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !asked.Valid() || part != (format.Link{Trace: asked.Trace, Parent: asked.Span}) {
		t.Errorf("of the request %v it is %v", asked, part)
	}
}
