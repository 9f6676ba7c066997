package trace_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// placesTrace has three places of two objects, one of which has no name, and a scope with a place's
// name.
const placesTrace = `header
state closed=1 tick=9000
chunk blocks sealed
name 2 "main.f a.go:1"
name 3 "main.g a.go:2"
name 4 "main.h a.go:3"
name 5 "work"
frame 458757 "main.work" "/src/b.go" line=7 start=0
frame 458754 "main.f" "/src/a.go" line=1 start=1
frame 458756 "main.h" "/src/a.go" line=3 start=2
frame 458755 "main.g" "/src/a.go" line=2 start=1
lock mutex #2 ticks=5000 addr=0 acquired=-1 contended=1 short=0 short_ns=0
lock mutex #3 ticks=5000 addr=0 acquired=-1 contended=2 short=0 short_ns=0
stop ticks=9000
chunk records owner=0 since=1000 flags=final sealed
  wait "main.f a.go:1" g=7 start=2000 stop=2100 cpu=0/unknown | addr:0x10 goid:8 uint:260
  wait "main.g a.go:2" g=7 start=3000 stop=3100 cpu=0/unknown | addr:0x10 goid:8 uint:260
  wait "main.h a.go:3" g=7 start=4000 stop=4100 cpu=0/unknown | addr:0x20 goid:8 uint:516
  task "main.g a.go:2" g=7 start=5000 stop=5100 cpu=0/unknown
`

// objectsOf assigns the first two places to one lock.
func objectsOf(places []trace.Place) []trace.Object {
	list := make([]trace.Object, len(places))
	for i, p := range places {
		if p.Function != "main.h" {
			list[i] = trace.Object{Name: "main.store.mu", Key: "/src"}
		}
	}
	return list
}

func TestCallObjects(t *testing.T) {
	tr := tracetest.OpenText(t, placesTrace)
	var asked []trace.Place
	tr.NameByObject(func(places []trace.Place) []trace.Object {
		asked = append(asked, places...)
		return objectsOf(places)
	})
	want := []trace.Place{
		{Name: 2, Kind: format.LockMutex, Function: "main.f", File: "/src/a.go", Line: 1},
		{Name: 3, Kind: format.LockMutex, Function: "main.g", File: "/src/a.go", Line: 2},
		{Name: 4, Kind: format.LockRWMutex, Function: "main.h", File: "/src/a.go", Line: 3},
	}
	if len(asked) > 0 || !slices.Equal(tr.Places(), want) {
		t.Errorf("asked for %+v before anything was read, of %+v", asked, tr.Places())
	}
	given := trace.Place{Name: 5, Function: "main.work", File: "/src/b.go", Line: 7}
	if all := tr.NamePlaces(0); !slices.Equal(all, []trace.Place{given, want[0], want[2], want[1]}) || !slices.Equal(tr.NamePlaces(3), want[1:2]) {
		t.Errorf("names are from %+v", all)
	}
	var got []string
	for e := range tracetest.Events(t, tr, trace.Options{}) {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Name, " ", tr.Name(e.Name)))
	}
	if err := tr.EachLockSums(func(l *format.LockSums) bool {
		got = append(got, fmt.Sprint("sums ", l.Name, " ", l.Contended))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	wantLines := []string{
		"wait 2 main.store.mu", "wait 2 main.store.mu", "wait 4 main.h a.go:3", "task 3 main.store.mu", "sums 2 1", "sums 2 2",
	}
	if !slices.Equal(got, wantLines) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantLines, "\n"))
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked for %+v", asked)
	}
	if names := tr.Names(); !slices.Equal(names, []string{"", format.OtherNames, "main.store.mu", "main.store.mu", "main.h a.go:3", "work"}) {
		t.Errorf("the names are %q", names)
	}
}

// TestTwoObjectsOfOneName checks that the second object keeps its place's name.
func TestTwoObjectsOfOneName(t *testing.T) {
	tr := tracetest.OpenText(t, placesTrace)
	tr.NameByObject(func(places []trace.Place) []trace.Object {
		list := make([]trace.Object, len(places))
		for i, p := range places {
			list[i] = trace.Object{Name: "main.store.mu", Key: p.Function}
		}
		return list
	})
	if names := tr.Names()[2:]; !slices.Equal(names, []string{"main.store.mu", "main.g a.go:2", "main.h a.go:3", "work"}) {
		t.Errorf("the names are %q", names)
	}
}

// TestFollowerCallsObjects checks that a Follower's events have the objects' names, and so has the
// same trace read through it.
func TestFollowerCallsObjects(t *testing.T) {
	data := tracetest.Assemble(t, placesTrace)
	f, err := trace.NewFollower(strings.NewReader(string(data)), func() (int64, error) { return int64(len(data)), nil }, trace.FollowOptions{FromStart: true})
	if err != nil {
		t.Fatal(err)
	}
	f.NameByObject(objectsOf)
	var got, again []uint16
	if _, err := f.Poll(func(e *trace.Event) bool { got = append(got, e.Name); return true }); err != nil {
		t.Fatal(err)
	}
	tr := tracetest.Open(t, data)
	if err := f.Events(tr, trace.Options{}, func(e *trace.Event) bool { again = append(again, e.Name); return true }); err != nil {
		t.Fatal(err)
	}
	if want := []uint16{2, 2, 4, 3}; !slices.Equal(got, want) || !slices.Equal(again, want) {
		t.Errorf("delivered %v, then %v, want %v", got, again, want)
	}
	if name := f.Trace().Name(3); name != "main.store.mu" {
		t.Errorf("name 3 is %q", name)
	}
}
