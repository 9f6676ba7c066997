package timeline

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/scopeview/scopeview/internal/states"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

var update = flag.Bool("update", false, "rewrite what the page's tests expect")

// checkFixture compares a fixture of the page's tests, in export/html/assets/test, with what it would be
// now. With -update it is written.
func checkFixture(t *testing.T, name string, made any) {
	t.Helper()
	path := "../../export/html/assets/test/" + name
	b, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, '\n')
	if *update {
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept := filetest.Read(t, path)
	if !bytes.Equal(kept, b) {
		t.Errorf("%s is not what it would be now: go test ./internal/timeline -run Fixtures -update", path)
	}
}

// packedText returns a container as text.
func packedText(t *testing.T, c *Container) string {
	t.Helper()
	var packed bytes.Buffer
	if err := c.WriteTo(&packed, flate.BestCompression); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// stateFixture has the same states twice: Exact without tracks and counts, which the page computes, and
// Merged at a resolution at which nothing is merged, with those of the Go side.
type stateFixture struct{ Exact, Merged string }

// randomPlaced returns states of goroutines on two processors and some threads, of even times.
func randomPlaced(seed uint64, goroutines, each int) *States {
	r := rand.New(rand.NewPCG(seed, 1))
	free := map[int64]int64{} // by processor and by thread: when it is free
	var list [][6]int64
	for goid := range int64(goroutines) {
		at := 2 * r.Int64N(50)
		for range each {
			v := [6]int64{goid + 1, at, at + 2 + 2*r.Int64N(20), r.Int64N(int64(states.Count)), -1, 0}
			proc, thread := r.Int64N(2), 11+r.Int64N(4)
			if (v[3] != unknown && v[3] < runnable || v[3] == syscall || v[3] == int64(states.GC)) && free[proc] <= at && free[thread] <= at {
				v[4], v[5], free[proc], free[thread] = proc, thread, v[2], v[2]
			}
			list = append(list, v)
			at = v[2] + 2*r.Int64N(2)*r.Int64N(10) // sometimes a gap
		}
	}
	slices.SortStableFunc(list, func(a, b [6]int64) int { return int(a[1] - b[1]) })
	s := placed(list)
	s.rows[0].system = true
	return s
}

// TestStateFixtures keeps the expectations of the page's tests in step with the tracks of processors and
// threads and with the numbers of running goroutines.
func TestStateFixtures(t *testing.T) {
	var made []stateFixture
	for _, s := range []*States{placed(twoProcs), randomPlaced(1, 3, 12), randomPlaced(2, 5, 40)} {
		made = append(made, stateFixture{packedText(t, &Container{States: s.Tile(0, 1<<20, 0, nil)}), packedText(t, &Container{States: s.Tile(0, 1<<20, 2, nil)})})
	}
	checkFixture(t, "states.json", made)
}
