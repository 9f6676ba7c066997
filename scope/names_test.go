//go:build !scope_off

package scope

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/trace"
)

// TestManyNames uses more names than a trace can have: the first keep theirs,
// every record is kept, and each use of one of the others is counted.
func TestManyNames(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	const own = format.MaxNames - format.FirstName // 65,534
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		buf := []byte("name 1000000")
		name := unsafe.String(&buf[0], len(buf)) // what is in it changes
		for i := range n {
			if i%(atOnce/2) == 0 { // a name takes as much as its scope
				breathe(t)
			}
			strconv.AppendInt(buf[:len("name ")], int64(1_000_000+i), 10)
			Task(name)()
		}
		Task("name 1000000")() // one of the first again, as a constant
		if err := Stop(); err != nil {
			t.Fatal(err)
		}
		i, other := 0, int64(0)
		each(t, Path(), func(tr *trace.Trace, e *trace.Event) {
			want := "name " + strconv.Itoa(1_000_000+i%n)
			if i >= own && i < n {
				want = format.OtherNames
				other++
			}
			if got := tr.Name(e.Name); got != want {
				t.Fatalf("scope %d is called %q, want %q", i, got, want)
			}
			i++
		})
		verify(t, Path())
		s := Stats()
		if i != n+1 || s.Recorded != int64(n+1) || s.Lost.Total() != 0 {
			t.Errorf("%d scopes in the trace, %d recorded, lost %+v, want %d", i, s.Recorded, s.Lost, n+1)
		}
		if s.Names != own || s.Misuse.OtherNames != other || other != int64(n-own) {
			t.Errorf("%d names, %d uses of others, want %d and %d", s.Names, s.Misuse.OtherNames, own, n-own)
		}
	})
}

// TestNameBytes checks the other limit of the table of names, of their bytes.
func TestNameBytes(t *testing.T) {
	const size = 1 << 10
	defined := 0
	n := newNames(nil, glob.Filter{}, func(id uint16, name string) bool {
		defined++
		return int(id) == defined-1+format.FirstName
	})
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

// TestNamesByContent gives names whose address says less than their bytes: a
// buffer that is used again, and prefixes and tails of one constant.
func TestNamesByContent(t *testing.T) {
	const text = "abcdefgh"
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var want []string
		use := func(name string, as string) {
			for range 3 { // the first use and those after it may go different ways
				Event(name)
				want = append(want, fmt.Sprintf("event %q", as))
			}
		}
		buf := []byte("first")
		name := unsafe.String(&buf[0], len(buf))
		use(name, "first")
		copy(buf, "other")
		use(name, "other")
		use(name[:3], "oth")
		copy(buf, "first")
		use(name, "first")
		for range 2 {
			use(text, text)
			use(text[:4], "abcd")
			use(text[:0], "")
			use(text[4:], "efgh")
			use(text[1:2], "b")
		}
		r := stop(t)
		if got := r.lines(); !slices.Equal(got, want) {
			t.Errorf("recorded\n%q, want\n%q", got, want)
		}
		ids := map[string]uint16{}
		for _, e := range r.events {
			if id, ok := ids[e.name]; ok && id != e.Name {
				t.Errorf("%q has the ids %d and %d", e.name, id, e.Name)
			}
			ids[e.name] = e.Name
		}
		if len(ids) != 8 { // first, other, oth, and the five of text
			t.Errorf("%d names, want 8", len(ids))
		}
	})
}

// TestNamesAgain records the same names in recording after recording: the ids
// and addresses of one mean nothing in the next.
func TestNamesAgain(t *testing.T) {
	names := []string{"alpha", "beta", "gamma", "delta"}
	for i := range 8 {
		perBacking(t, func(t *testing.T, backing Option) {
			start(t, backing)
			var want []string
			for k := range names {
				name := names[(i+k)%len(names)]
				Task(name)()
				want = append(want, fmt.Sprintf("task %q", name))
			}
			if got := stop(t).lines(); !slices.Equal(got, want) {
				t.Errorf("recorded %q, want %q", got, want)
			}
		})
	}
}

// TestFindWhileFiltering looks names up while the filter is changed, which with this
// many names and patterns takes long: nobody may wait for that, and what was found
// meanwhile is decided by the new filter too.
func TestFindWhileFiltering(t *testing.T) {
	long := strings.Repeat("a", format.MaxName-len("known 1000000"))
	known := func(i int) string { return fmt.Sprintf("%s%d known", long, 1_000_000+i) }
	// Most of it is slow for a name that begins by many a, and means none.
	expr := strings.Repeat("*a,", glob.MaxExpr/3-10) + "*0 *"
	filter, err := glob.Parse(expr)
	if err != nil {
		t.Fatal(err)
	}
	n := newNames(nil, glob.Filter{}, func(uint16, string) bool { return true })
	names, rounds := 1000, 5
	if raceBuild {
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
