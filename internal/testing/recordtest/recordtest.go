// Package recordtest records tests, and returns the events of their traces.
package recordtest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
)

// Event is a record in a trace.
type Event struct {
	Kind  format.Kind
	Name  string
	Args  string     // as JSON, without the ids of its link; "": none
	Link  scope.Link // zero: none
	Goid  uint64     // goroutine that began it
	Moved bool       // another goroutine ended it
	Open  bool       // it has not ended
}

// String returns the name and the arguments.
func (e Event) String() string { return strings.TrimSpace(e.Name + " " + e.Args) }

// Begin starts a recording at path that ends with the test, or earlier by end.
func Begin(t testing.TB, path string, opts ...scope.Option) (end func()) {
	t.Helper()
	if err := scope.Start(path, opts...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scope.Stop() })
	return func() {
		t.Helper()
		if err := scope.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// Start starts a recording that ends with the test. stop ends it, verifies the trace, and
// returns its events, sorted by start.
func Start(t testing.TB, opts ...scope.Option) (stop func() []Event) {
	t.Helper()
	end := Begin(t, t.TempDir()+string(filepath.Separator), opts...)
	return func() (list []Event) {
		t.Helper()
		end()
		tracetest.Verify(t, scope.Path())
		tr := tracetest.OpenFile(t, scope.Path())
		lister := args.NewLister(tr.Name)
		for e := range tracetest.Events(t, tr, trace.Options{}) {
			given := slices.DeleteFunc(slices.Clone(lister.List(e)), func(a args.Arg) bool { return strings.HasSuffix(a.Key, "_id") })
			link, _ := e.Link()
			list = append(list, Event{e.Kind, tr.Name(e.Name), string(args.AppendJSON(nil, given)), link, e.Goid, e.EndGoid != 0, e.Open})
		}
		return list
	}
}
