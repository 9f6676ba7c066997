package timeline

import (
	"encoding/json"
	"testing"
)

// TestPlaces: the page receives the places of names, each file once, and for a growing trace
// only new ones.
func TestPlaces(t *testing.T) {
	const placed = `header clock=monotonic start=1000
state closed=1 tick=9000
chunk blocks sealed
name 2 "get"
name 3 "put"
name 4 "main.f a.go:3"
name 5 "made up"
frame 458754 "store.(*Store).get" "/src/store.go" line=142
frame 458756 "main.f" "/src/a.go" line=3 start=1
frame 458755 "store.(*Store).put" "/src/store.go" line=150
stop ticks=9000
`
	tr, x := loaded(t, placed)
	for _, c := range []struct {
		known int
		want  string
	}{
		{0, `{"files":["/src/store.go","/src/a.go"],"of":[[2,0,142,"store.(*Store).get"],[4,1,3,"main.f"],[3,0,150,"store.(*Store).put"]]}`},
		{2, `{"files":["/src/store.go"],"of":[[3,0,150,"store.(*Store).put"]]}`},
		{3, `null`},
	} {
		m := x.Meta(tr, MetaOptions{Places: c.known})
		got, err := json.Marshal(m.Places)
		if err != nil || string(got) != c.want || m.Places.Len()+c.known != 3 {
			t.Errorf("behind %d: %s, %v, want %s", c.known, got, err, c.want)
		}
	}
}
