package rows_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/export/chrome"
	"github.com/scopeview/scopeview/internal/export/csv"
	"github.com/scopeview/scopeview/internal/export/perfetto"
	"github.com/scopeview/scopeview/internal/export/rows"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestStates: goroutines' states are drawn and listed beside everything else, and those of
// each goroutine nest as its scopes do.
func TestStates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.scope")
	stop := recordtest.Begin(t, path, gotrace.With())
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range 3 {
		wg.Go(func() {
			scope.Track("worker")
			for range 20 {
				done := scope.Task("work")
				mu.Lock()
				time.Sleep(100 * time.Microsecond)
				mu.Unlock()
				done()
			}
		})
	}
	wg.Wait()
	stop()
	tr := tracetest.OpenFile(t, path)
	want := listed(t, tr)
	locks := 0
	_, err := states.Read(tr, func(v *states.Interval) {
		want.slices = append(want.slices, slice{kind: "state", name: v.State.String(), start: v.From, end: v.To})
		if v.State == states.Lock {
			locks++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if locks == 0 {
		t.Error("nobody waited for the mutex")
	}
	var b bytes.Buffer
	o := rows.Options{States: true}
	if _, err := chrome.Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	t.Run("chrome", func(t *testing.T) { check(t, readChrome(t, b.Bytes()), want) })
	b.Reset()
	if _, err := perfetto.Write(context.Background(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	t.Run("perfetto", func(t *testing.T) { check(t, readPerfetto(t, b.Bytes(), tr.End()), want) })
	b.Reset()
	if err := csv.Write(context.Background(), &b, tr, csv.Options{States: true}); err != nil {
		t.Fatal(err)
	}
	if n, all := strings.Count(b.String(), "\nstate,"), counts(want.slices); n != sum(all, "state ") {
		t.Errorf("%d rows of states in CSV, want %d", n, sum(all, "state "))
	}
}

func sum(counts map[string]int, prefix string) (n int) {
	for name, c := range counts {
		if strings.HasPrefix(name, prefix) {
			n += c
		}
	}
	return n
}
