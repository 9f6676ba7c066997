package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/timeline"
)

// TestLarge: a large trace can be used while it is read. Then the answers are those of a
// server that keeps every scope.
func TestLarge(t *testing.T) {
	const scopes = 30_000
	path := filepath.Join(t.TempDir(), "large.scope")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := (bulk.Trace{Shape: bulk.Long, Scopes: scopes, Seed: 1}).Write(f); err != nil {
		t.Fatal(err)
	}
	goOn := make(chan bool)
	fewer := func(s *Server) { s.most.whole, s.most.merged, s.most.part, s.most.runs = 1000, 500, 300, 400 }
	r := start(t, path, func(s *Server) {
		fewer(s)
		s.most.size = timeline.Size{From: 1, Runs: 3000, Every: 1000, Most: 32_000, Running: 2, Early: time.Nanosecond}
		s.most.early = func() { <-goOn }
	})
	get := func(r *running, what string) *packed { return container(t, r.get("/t/0/api/"+what)) }
	began := get(r, "whole")
	if l := began.Meta.Loading; l == nil || l.Share <= 0 || l.Share >= 1 || !began.Meta.Reduced || began.Meta.Scopes >= scopes {
		t.Fatalf("it is read: %+v, with %d scopes", l, began.Meta.Scopes)
	}
	if tile := get(r, "tile?from=0&to=2000000&px=1000"); len(tile.values["start"]) == 0 {
		t.Error("nothing of what was read is shown")
	}
	again := get(r, "live?cursor="+began.Meta.Live.Cursor)
	if !again.Meta.Reload {
		t.Error("while it is read the page does not ask again")
	}
	close(goOn)
	for whole := began; ; {
		if whole.Meta.Loading == nil {
			if whole.Meta.Scopes != scopes {
				t.Errorf("%d scopes", whole.Meta.Scopes)
			}
			break
		}
		if !get(r, "live?cursor="+whole.Meta.Live.Cursor).Meta.Reload {
			t.Fatal("there is more, and the page does not ask for it")
		}
		whole = get(r, "whole")
	}

	every := start(t, path, fewer)
	end := began.Meta.End
	rnd := rand.New(rand.NewPCG(1, 1))
	asked := []string{"whole", fmt.Sprintf("runs?name=3&from=0&to=%d", end)}
	for range 20 {
		from := rnd.Int64N(end)
		to := from + rnd.Int64N(end>>rnd.IntN(12)+1)
		asked = append(asked, fmt.Sprintf("tile?from=%d&to=%d&px=%d", from, to, 1+rnd.IntN(2000)),
			fmt.Sprintf("runs?name=%d&from=%d&to=%d", 2+rnd.IntN(5), from, to), fmt.Sprintf("waits?from=%d&to=%d&px=100", from, to))
	}
	for _, what := range asked {
		got, want := get(r, what), get(every, what)
		if !reflect.DeepEqual(got.Tile, want.Tile) || !reflect.DeepEqual(got.Columns, want.Columns) || !reflect.DeepEqual(got.values, want.values) {
			t.Errorf("%s: %d items, want %d, or others", what, len(got.values["start"]), len(want.values["start"]))
		}
	}
}

// TestTilesFirst: a tile does not wait for requests that read the trace completely, and
// these wait while one is made.
func TestTilesFirst(t *testing.T) {
	data, err := bulk.Trace{Shape: bulk.Regular, Scopes: 5000, Seed: 1}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.scope")
	filetest.Write(t, path, data)
	r := start(t, path, func(s *Server) { s.most.whole, s.most.merged = 1000, 500 })
	for range cap(r.s.read) {
		r.s.read <- struct{}{}
	}
	if tile := container(t, r.get("/t/0/api/tile?from=0&to=1000000000&px=1000")); len(tile.values["start"]) == 0 {
		t.Error("the tile has nothing")
	}
	for range cap(r.s.read) {
		<-r.s.read
	}

	r.s.tiles.RLock()
	answered := make(chan int, 1)
	go func() {
		res := r.get("/t/0/api/summary?from=0&to=1000000000&whole=1")
		res.Body.Close()
		answered <- res.StatusCode
	}()
	for end := time.Now().Add(patience); r.s.tiles.TryRLock(); { // it fails once another one waits
		r.s.tiles.RUnlock()
		select {
		case code := <-answered:
			t.Fatalf("the sums are there while a tile is made: %d", code)
		default:
		}
		if time.Now().After(end) {
			t.Fatal("nobody asks for sums")
		}
		runtime.Gosched()
	}
	r.s.tiles.RUnlock()
	if code := <-answered; code != 200 {
		t.Errorf("the sums answer %d", code)
	}
}
