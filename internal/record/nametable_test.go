//go:build !scope_off

package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/sys"
)

// TestNameBytes checks the limit of the bytes of names.
func TestNameBytes(t *testing.T) {
	const size = 1 << 10
	defined := 0
	n := newNames(func(nameCache) {}, glob.Filter{}, func(id uint16, name string) bool {
		defined++
		return int(id) == defined-1+format.FirstName
	}, nil)
	for i := range maxNameBytes/size + 100 {
		id := n.find(fmt.Sprintf("%*d", size, i))
		if want := uint64(i + format.FirstName); i < maxNameBytes/size && id != want {
			t.Fatalf("name %d has id %d, want %d", i, id, want)
		} else if i >= maxNameBytes/size && id != format.NameOther {
			t.Fatalf("name %d has id %d, want %d", i, id, format.NameOther)
		}
	}
	if id := n.find("short"); id != format.NameOther { // no room for that either
		t.Errorf("a short name has id %d", id)
	}
	if got := n.others.Load(); got != 101 || defined != maxNameBytes/size {
		t.Errorf("%d names defined, %d uses of others, want %d and 101", defined, got, maxNameBytes/size)
	}
	filter, err := glob.Parse("-x*")
	if err != nil {
		t.Fatal(err)
	}
	n.setFilter(filter)
	if id := n.find("xyz"); id != format.NameOther|nameOut || n.others.Load() != 101 {
		t.Errorf("a name that is left out has id %#x and counts: %d uses", id, n.others.Load())
	}
	n.define = func(uint16, string) bool { return false }
	if id := n.find(fmt.Sprintf("%*d", size, 0)); id != format.FirstName {
		t.Errorf("a name that is known has id %d when no more fit", id)
	}
}

// TestFindWhileFiltering looks names up while the filter is being changed, which
// takes long with so many names and patterns: no lookup may wait for that, and the
// new filter also applies to names found meanwhile.
func TestFindWhileFiltering(t *testing.T) {
	long := strings.Repeat("a", format.MaxName-len("known 1000000"))
	known := func(i int) string { return fmt.Sprintf("%s%d known", long, 1_000_000+i) }
	// Most of it is slow for a name that begins with many a's, and matches none.
	expr := strings.Repeat("*a,", glob.MaxExpr/3-10) + "*0 *"
	filter, err := glob.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	n := newNames(func(nameCache) {}, glob.Filter{}, func(uint16, string) bool { return true }, func(uint16) {})
	names, rounds := 1000, 5
	if sys.Race {
		names = 50 // each takes a hundred times as long
	}
	for i := range names {
		n.find(known(i))
	}
	fresh := 0
	for round := range rounds {
		n.setFilter(glob.Filter{})
		begun, done := make(chan bool), make(chan time.Duration)
		go func() {
			close(begun)
			begin := time.Now()
			n.setFilter(filter)
			done <- time.Since(begin)
		}()
		<-begun
		var all, longest time.Duration
		for all == 0 {
			begin := time.Now()
			n.find(known(fresh % names))
			n.find(fmt.Sprintf("new %d 0 known", fresh))
			longest = max(longest, time.Since(begin))
			fresh++
			select {
			case all = <-done:
			default:
			}
		}
		for i := range names {
			if id := n.find(known(i)); id&nameOut == 0 != (i%10 == 0) {
				t.Fatalf("name %d is out: %#x", i, id)
			}
		}
		for i := range fresh {
			if id := n.find(fmt.Sprintf("new %d 0 known", i)); id&nameOut != 0 {
				t.Fatalf("new name %d is out: %#x", i, id)
			}
		}
		if longest < all/2 {
			t.Logf("the filter was set in %v, two names were found in %v at most", all, longest)
			return
		}
		if round == rounds-1 {
			t.Errorf("the filter was set in %v, and finding two names took up to %v of it", all, longest)
		}
	}
}

// TestLabelsName: invented keys do not create more names than there is room for.
func TestLabelsName(t *testing.T) {
	names := map[string]bool{}
	for i := range 2 * maxLabelNames {
		names[LabelsName([]any{KV(fmt.Sprint("k", i), "v"), KV("l", "v")})] = true
	}
	if !names["pprof.Do(k0, l)"] || len(names) > maxLabelNames+1 {
		t.Errorf("%d names, with that of the first: %v", len(names), names["pprof.Do(k0, l)"])
	}
}
