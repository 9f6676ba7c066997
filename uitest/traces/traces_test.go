package traces

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// content has the counts of a trace.
type content struct {
	kinds  map[string]int            // by the CSV's words
	names  map[string]map[string]int // by kind and name
	rows   map[string]bool           // that have a name
	goids  map[uint64]bool
	depth  uint32 // of the deepest scope; an outermost one's is 0
	across int    // scopes over a step of the clock
	open   int
}

func read(t *testing.T, path string) *content {
	t.Helper()
	tr, err := trace.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	c := &content{kinds: map[string]int{}, names: map[string]map[string]int{}, rows: map[string]bool{}, goids: map[uint64]bool{}}
	breaks := analysis.Breaks(tr.Breaks())
	err = tr.Events(trace.Options{}, func(e *trace.Event) bool {
		kind := e.Kind.Spec().CSV
		if kind == "" {
			return true
		}
		c.kinds[kind]++
		if c.names[kind] == nil {
			c.names[kind] = map[string]int{}
		}
		c.names[kind][tr.Name(e.Name)]++
		if e.Track != 0 {
			c.rows[tr.Name(e.Track)] = true
		}
		c.goids[e.Goid] = true
		c.depth = max(c.depth, uint32(e.Depth))
		if breaks.Across(e) {
			c.across++
		}
		if e.Open {
			c.open++
		}
		return true
	})
	if damage := analysis.Damage(tr.Problems()); err != nil || len(damage) > 0 {
		t.Errorf("%s: %v, %v", filepath.Base(path), err, damage)
	}
	return c
}

// recorded runs a program and reads its trace.
func recorded(t *testing.T, program string, size int) *content {
	t.Helper()
	path := filepath.Join(t.TempDir(), program+".scope")
	if err := Record(path, program, size); err != nil {
		t.Fatal(err)
	}
	return read(t, path)
}

// TestPrograms: what the tests of the page count on.
func TestPrograms(t *testing.T) {
	for _, test := range []struct {
		program string
		size    int
		kinds   map[string]int
		rows    int
		depth   uint32
	}{
		{"empty", 0, map[string]int{}, 0, 0},
		{"one", 0, map[string]int{"task": 1}, 0, 0},
		{"goroutines", 300, map[string]int{"task": 300}, 0, 0},
		{"deep", 50, map[string]int{"task": 53}, 0, 49},
		{"long", 3, map[string]int{"task": 3}, 0, 0},
	} {
		c := recorded(t, test.program, test.size)
		if !maps.Equal(c.kinds, test.kinds) || len(c.rows) != test.rows || c.depth != test.depth || c.open != 0 {
			t.Errorf("%s: %v on %d named rows, %d deep, %d open; want %v on %d, %d deep", test.program, c.kinds, len(c.rows), c.depth, c.open, test.kinds, test.rows, test.depth)
		}
		if test.program == "goroutines" && len(c.goids) != test.size {
			t.Errorf("there are %d goroutines, want %d", len(c.goids), test.size)
		}
		if test.program == "long" && len(c.names["task"]) != test.size {
			t.Errorf("there are %d long names, want %d", len(c.names["task"]), test.size)
		}
	}
}

func TestStore(t *testing.T) {
	const n = 20
	c := recorded(t, "store", n)
	task := map[string]int{Parent: Workers * n, "read": Workers * n, "parse": Workers * n, "lex": Workers * n, "save": Workers * n, Holder: 1}
	if !maps.Equal(c.names["task"], task) {
		t.Errorf("the scopes are %v, want %v", c.names["task"], task)
	}
	for _, x := range []struct {
		kind, name string
		want       int
	}{
		{"hold", Lock, Workers*n + 1}, {"counter", "queue", Workers * n}, {"event", "tenth", Workers * n / 10}, {"event", "all done", 1},
	} {
		if got := c.names[x.kind][x.name]; got != x.want {
			t.Errorf("%s %s: %d, want %d", x.kind, x.name, got, x.want)
		}
	}
	if c.names["wait"][Lock] == 0 {
		t.Error("nobody waited for the lock")
	}
	if c.kinds["heartbeat"] != 0 || len(c.rows) != Workers || !c.rows["worker 1"] || !c.rows["worker 4"] {
		t.Errorf("the rows are %v", c.rows)
	}
}

// TestMany: of the records few may be lost, and the rows are all there.
func TestMany(t *testing.T) {
	const n = 4000
	c := recorded(t, "many", n)
	if got := c.kinds["task"]; got > n || got < n*98/100 || len(c.rows) != 8 || c.depth != 1 || len(c.names["task"]) != 24 {
		t.Errorf("%d scopes with %d names on %v, %d deep", got, len(c.names["task"]), c.rows, c.depth)
	}
}

// TestHostile: each of the names is there, as it is, in each place.
func TestHostile(t *testing.T) {
	names := map[string]bool{}
	for _, name := range tracetest.HostileNames() {
		names[name] = true
	}
	c := recorded(t, "hostile", 0)
	for _, kind := range []string{"task", "hold", "event", "counter"} {
		if c.kinds[kind] != len(names) {
			t.Errorf("%d records are a %s, want %d", c.kinds[kind], kind, len(names))
		}
		for name := range names {
			if c.names[kind][name] != 1 {
				t.Errorf("%d records are a %s called %q", c.names[kind][name], kind, name)
			}
		}
	}
}

// TestWritten: the traces that are written by hand.
func TestWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hours.scope")
	const n = 5000 // more than a chunk holds
	if err := Hours(path, n); err != nil {
		t.Fatal(err)
	}
	if c := read(t, path); !maps.Equal(c.names["task"], map[string]int{"ten hours": 1, "blink": n}) || len(c.goids) != 2 || c.open+c.across != 0 {
		t.Errorf("hours: %v of %d goroutines, %d open", c.names, len(c.goids), c.open)
	}
	if err := Jump(path); err != nil {
		t.Fatal(err)
	}
	if c := read(t, path); !maps.Equal(c.names["task"], map[string]int{"before": 1, "across": 1, "behind": 1}) || c.across != 1 {
		t.Errorf("jump: %v, %d across the step", c.names, c.across)
	}
}

func TestUnknownProgram(t *testing.T) {
	if err := Record(filepath.Join(t.TempDir(), "x.scope"), "none", 1); err == nil {
		t.Error("a program that does not exist was recorded")
	}
}

// TestServer: of its connections every fourth has served a request, and two have served those that the tests ask for.
func TestServer(t *testing.T) {
	const n = 100
	c := recorded(t, "server", n)
	if want := map[string]int{Serve: n/4 + 2, Refresh: 1, Compute: 1}; !maps.Equal(c.names["task"], want) {
		t.Errorf("the scopes are %v, want %v", c.names["task"], want)
	}
	if waits, holds := c.names["wait"][CacheLock], c.names["hold"][CacheLock]; waits != 1 || holds != 2 {
		t.Errorf("of %s there are %d waits and %d holds, want 1 and 2", CacheLock, waits, holds)
	}
}
