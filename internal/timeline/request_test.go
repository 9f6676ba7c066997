package timeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// requests returns a trace of some requests, each over two goroutines; number 7 also has an
// event and an open scope, and one of its scopes runs across everything.
func requests(t *testing.T, n int) []byte {
	t.Helper()
	var b strings.Builder
	end := 1000 + 1000*(n+2)
	fmt.Fprintf(&b, "header clock=monotonic start=1000 mono=1000 chunk=65536\nstate closed=1 tick=%d\n", end)
	b.WriteString("chunk blocks\nname 2 \"serve\"\nname 3 \"query\"\nname 4 \"other\"\nname 5 \"done\"\ncalib ticks=1000 mono=1000 wall=0\n")
	fmt.Fprintf(&b, "stop ticks=%d\n", end)
	link := func(r, span, parent int) string {
		return fmt.Sprintf("addr:0x%x addr:%d addr:%d addr:%d", uint64(0xabcdef0000000000)+uint64(r), 5, span, parent)
	}
	fmt.Fprintf(&b, "chunk records flags=ends\ntask \"serve\" g=9 start=1500 stop=%d cpu=0/unknown | %s\n", end-100, link(7, 900, 0))
	records := 0
	for i := range n {
		at := 2000 + 1000*i
		if records++; records%200 == 0 {
			fmt.Fprintf(&b, "chunk records since=%d flags=ends\n", at)
		}
		fmt.Fprintf(&b, "task \"serve\" g=1 start=%d stop=%d cpu=0/unknown | %s\n", at, at+900, link(i, 1+i, 900))
		fmt.Fprintf(&b, "task \"other\" g=1 start=%d stop=%d cpu=0/unknown\n", at+100, at+150)
		fmt.Fprintf(&b, "task \"query\" g=2 start=%d stop=%d cpu=0/unknown | %s\n", at+200, at+300, link(i, 1000+i, 1+i))
		if i == 7 {
			fmt.Fprintf(&b, "event \"done\" g=2 start=%d | %s\n", at+250, link(i, 0, 1000+i))
			fmt.Fprintf(&b, "task \"serve\" g=3 start=%d open | %s\n", at+400, link(i, 4000, 1+i))
		}
	}
	return tracetest.Assemble(t, b.String())
}

// TestRequest: a request has exactly the items with its trace id, whether all items are kept
// or the stretches are read again.
func TestRequest(t *testing.T) {
	whole, thin := bothWays(t, requests(t, 300), tiny)
	if thin.thin == nil || len(thin.thin.begins) < 4 {
		t.Fatal("the trace is not read as a large one")
	}
	if whole.linked != 603 || thin.linked != 603 {
		t.Errorf("%d and %d items have a link, want 603", whole.linked, thin.linked)
	}
	seven := []string{"9 0 2 500", "1 0 2 8000", "2 0 3 8200", "2 255 5 8250", "3 0 2 8400"}
	for _, test := range []struct {
		id   string
		most int
		left int64
		want []string
	}{
		{"abcdef00000000070000000000000005", 10, 0, seven},
		{"abcdef0000000007", 10, 0, seven},
		{"abcdef0000000007", 2, 3, seven[:2]},
		{"abcdef0000000008", 10, 0, []string{"1 0 2 9000", "2 0 3 9200"}},
		{"0bcdef00", 10, 0, nil},
		{"abcdef00000000070000000000000006", 10, 0, nil},
	} {
		for name, x := range map[string]*Index{"every item": whole, "large": thin} {
			tile, err := x.Request(context.Background(), test.id, test.most)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range pack(t, &Container{Tile: tile}).items() {
				got = append(got, fmt.Sprint(d.goid, d.depth, d.name, d.start))
			}
			if !slices.Equal(got, test.want) || tile.Left != test.left || tile.Partial {
				t.Errorf("%s, %s, most %d: %q, %d left, partial %v; want %q, %d left", name, test.id, test.most, got, tile.Left, tile.Partial, test.want, test.left)
			}
		}
	}
	thin.thin.links.left = true
	if tile, err := thin.Request(context.Background(), "abcdef0000000007", 10); err != nil || !tile.Partial {
		t.Errorf("an index that is full does not say so: %v", err)
	}
}

// TestLinkIndex: ids whose first half is zero are indexed by the second.
func TestLinkIndex(t *testing.T) {
	var x linkIndex
	x.add([]uint64{traceKey(&[16]byte{15: 7}), traceKey(&[16]byte{0: 0xab, 15: 7}), 0xab << 56}, 3)
	x.add([]uint64{traceKey(&[16]byte{15: 7})}, 4)
	for id, want := range map[string][]int{
		"00000000000000000000000000000007": {3, 4}, "ab000000000000000000000000000007": {3}, "ab000000": {3}, "ac000000": nil,
	} {
		if got := x.find(id); !slices.Equal(got, want) {
			t.Errorf("%s is in %v, want %v", id, got, want)
		}
	}
	if len(x.keys) != 3 {
		t.Errorf("%d links are kept, want 3: one after another in one stretch are one", len(x.keys))
	}
}

const ofTwo = `header clock=monotonic start=1000 mono=1000
state closed=1 tick=21000
chunk blocks
name 2 "serve"
calib ticks=1000 mono=1000 wall=0
member 1 "/bin/api" "h1" "b1" "api.scope" "" shift=30 pid=11 from=1000 to=9000 error=0
member 2 "db" "h2" "b2" "db.scope" "hot part" parent=1 shift=30 pid=12 from=2000 to=9000 offset=-7 error=-1 lost=3
stop ticks=21000
chunk records flags=ends
task "serve" g=1073741831 start=2000 stop=3000 cpu=0/unknown
`

// TestProcesses: the page receives the processes of a merged trace.
func TestProcesses(t *testing.T) {
	tr := tracetest.OpenText(t, ofTwo)
	x, err := Load(context.Background(), tr, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := x.Meta(tr, MetaOptions{})
	want := []process{
		{Number: 1, Label: "api 11", PID: 11, Host: "h1", Path: "api.scope", To: 8000},
		{Number: 2, Parent: 1, Label: "db 12", PID: 12, Host: "h2", Path: "db.scope", From: 1000, To: 8000, Offset: -7, Error: -1, Lost: 3, Lacks: "hot part"},
	}
	if !slices.Equal(m.Processes, want) || m.Shift != 30 || m.Linked != 0 {
		t.Errorf("%+v, shift %d, %d links", m.Processes, m.Shift, m.Linked)
	}
}
