//go:build !scope_off

package record_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// TestManyNames uses more names than a trace can have: the first keep theirs,
// every record is kept, and each use of another one is counted.
func TestManyNames(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 100_000
	}
	const own = format.MaxNames - format.FirstName // 65,534
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		buf := []byte("name 1000000")
		name := unsafe.String(&buf[0], len(buf)) // its contents change
		for i := range n {
			if i%(atOnce/2) == 0 { // a name takes as much room as its scope
				breathe(t)
			}
			strconv.AppendInt(buf[:len("name ")], int64(1_000_000+i), 10)
			Task(name)()
		}
		Task("name 1000000")() // one of the first again, as a constant
		finish(t)
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

// TestNamesByContent passes names whose address does not identify them: a
// reused buffer, and prefixes and suffixes of one constant.
func TestNamesByContent(t *testing.T) {
	const text = "abcdefgh"
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		var want []string
		use := func(name string, as string) {
			for range 3 { // later uses may take another path than the first
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
// and addresses of one are invalid in the next.
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
