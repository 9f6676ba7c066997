package export

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// TestSnapshotsOverlap: what two snapshots of a run have in common is in the tables once. Of a
// scope that is open in the first there is also the end, which the second has.
func TestSnapshotsOverlap(t *testing.T) {
	const head = "header pid=7 wall=1700000000000000000 id=000000000000000000000000000000ff\n"
	const names = "chunk blocks\nname 2 \"a\"\nname 3 \"b\"\nname 4 \"c\"\nbeat ticks=20000 rss_bytes=1\n"
	dir, in := t.TempDir(), t.TempDir()
	first, second := filepath.Join(in, "1.scope"), filepath.Join(in, "2.scope")
	tracetest.Write(t, first, head+"state tick=50000\n"+names+"chunk records owner=0 flags=ends\n"+
		"task \"a\" g=1 start=2000 stop=5000 cpu=0/unknown\ntask \"b\" g=1 start=6000 open tid=1\n")
	tracetest.Write(t, second, head+"state tick=90000\n"+names+"chunk records owner=0 flags=ends\n"+
		"task \"a\" g=1 start=2000 stop=5000 cpu=0/unknown\ntask \"b\" g=1 start=6000 stop=80000 cpu=0/unknown\ntask \"c\" g=2 start=60000 stop=70000 cpu=0/unknown\n")
	exported(t, first, dir, Options{})
	exported(t, second, dir, Options{})
	var got []string
	open := column(t, dir, "scopes", "is_open")
	for i, n := range column(t, dir, "scopes", "name") {
		got = append(got, n.String()+" "+open[i].String())
	}
	slices.Sort(got)
	if want := []string{"a false", "b false", "b true", "c false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if n := len(column(t, dir, "heartbeats", "value")); n != 1 {
		t.Errorf("%d values of one heartbeat", n)
	}
	n := 0
	for _, v := range column(t, dir, "durations", "n") {
		n += int(v.Int64())
	}
	if n != 3 {
		t.Errorf("%d scopes in the histograms", n)
	}
}

// TestRecorded: the tables agree with the readers about a recorded program.
func TestRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("it records for a quarter of a second")
	}
	path := filepath.Join(t.TempDir(), "x.scope")
	if err := scope.Start(path, gotrace.With(), scope.WithHeartbeat(10*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	var mu scope.Mutex
	var wait sync.WaitGroup
	ctx, _ := scope.Context(context.Background(), "request")
	for range 4 {
		wait.Go(func() {
			for range 50 {
				_, s := scope.Context(ctx, "step", "x", 1)
				mu.Lock()
				time.Sleep(50 * time.Microsecond)
				mu.Unlock()
				scope.Event("done")
				s.End()
			}
		})
	}
	wait.Wait()
	if err := scope.Stop(); err != nil {
		t.Fatal(err)
	}
	dir, _ := exported(t, path, t.TempDir(), Options{})

	tr := tracetest.OpenFile(t, path)
	var did, beats, sampled int
	if _, err := states.Each(tr, func(*states.Facts, *states.Interval) { did++ }); err != nil {
		t.Fatal(err)
	}
	if err := tr.EachBeat(func(b *trace.Beat) bool { beats += len(b.Values); return true }); err != nil {
		t.Fatal(err)
	}
	sel := &samples.Selection{Selection: &analysis.Selection{}, Each: func(*samples.Sample) { sampled++ }}
	if _, err := samples.OfTrace(t.Context(), tr, sel); err != nil {
		t.Fatal(err)
	}
	if n := len(column(t, dir, "states", "state")); n != did || did == 0 {
		t.Errorf("%d states, want %d", n, did)
	}
	if n := len(column(t, dir, "heartbeats", "field")); n != beats || beats == 0 {
		t.Errorf("%d values of heartbeats, want %d", n, beats)
	}
	if n := len(column(t, dir, "samples", "metric")); n != sampled || sampled == 0 {
		t.Errorf("%d samples, want %d", n, sampled)
	}
	stacks := map[int64]bool{}
	for _, v := range column(t, dir, "stacks", "stack") {
		stacks[v.Int64()] = true
	}
	for _, v := range column(t, dir, "samples", "stack") {
		if !stacks[v.Int64()] {
			t.Fatalf("no stack %d", v.Int64())
		}
	}
	ids := map[string]int{}
	for _, v := range column(t, dir, "scopes", "trace_id") {
		ids[v.String()]++
	}
	if len(ids) != 1 || len(column(t, dir, "scopes", "name")) != 201 {
		t.Errorf("%v", ids)
	}
	// A waiter does not know a holder that is about to record its acquisition, or has recorded
	// its release.
	within, who, holder := column(t, dir, "waits", "within"), column(t, dir, "waits", "holder"), column(t, dir, "waits", "holder_within")
	unknown := 0
	for i := range within {
		want := "step"
		if who[i].IsNull() {
			unknown, want = unknown+1, who[i].String()
		}
		if within[i].String() != "step" || holder[i].String() != want {
			t.Errorf("a wait in %s for one in %s, want %s", within[i], holder[i], want)
		}
	}
	if n := len(within); n < 10 || unknown > n/5 {
		t.Errorf("%d waits, for %d unknown", n, unknown)
	}
	for _, v := range column(t, dir, "findings", "text") {
		if strings.TrimSpace(v.String()) == "" {
			t.Error("a finding without a text")
		}
	}
}
