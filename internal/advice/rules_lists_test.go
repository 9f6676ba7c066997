package advice

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// values are a row's.
type values map[row.Value]int64

// rowOf returns a row of a kind, with the called function of the standard library, if there
// is one. All lengths are the longest.
func rowOf(k row.Kind, typ, called string, v values) *Row {
	r := &Row{Row: row.Row{Kind: k, Type: typ}, Runs: 1, NS: 1e9, root: "/go/src/"}
	if called != "" {
		r.Stack = append(r.Stack, called)
	}
	r.Stack = append(r.Stack, "main.main /src/p/main.go:3")
	for i, n := range v {
		r.Stats.V[i] = n
	}
	r.H[row.Len][row.Bucket(v[row.MaxLen])] = max(v[row.Made], 1)
	return r
}

// even are weights that make sums easy.
var even = Weights{
	alloc: 100, allocByte: 1, appended: 10, ring: 5, listStep: 3, listStepFar: 13, sliceStep: 1, mapGet: 20, mapPut: 30, mapBuild: 50, mapStep: 6,
	compare: 1, compareString: 4, probe: 8, shift: 10, shiftByte: 0.5, hashByte: 0.5, swapWord: 1, swapOther: 4,
}

// judged returns the Judgement of the named rule.
func judged(t *testing.T, id string, r *Row) Judgement {
	t.Helper()
	for _, rule := range Rules {
		if rule.ID == id {
			return rule.Judge(r, even)
		}
	}
	t.Fatalf("there is no %s", id)
	return Judgement{}
}

// TestListsRules has a row with advice for each diagnostic.
func TestListsRules(t *testing.T) {
	for _, c := range []struct {
		id  string
		row *Row
		Judgement
	}{
		{"list-to-slice", rowOf(row.List, "int", "", values{row.Made: 2, row.Puts: 1000, row.Back: 1000, row.Steps: 5000, row.AllocBytes: 56000, row.MaxElem: 8, row.MaxLen: 500}), Judgement{
			NS: 1000*(200+48-10) + 5000*2, Bytes: 48000, Ops: 7000 + 5000,
			Advice:   "a []int instead of container/list saves 2,000 allocations and 5,000 steps over pointers, as all operations are at the ends",
			Evidence: []string{"2 lists, of up to 500 elements each", "put in: 0 in front, 1,000 at the end, 0 in the middle; removed: 0, 0, 0; moved: 0", "walked: 5,000 steps forward, 0 backwards"},
		}},
		{"list-to-slice", rowOf(row.List, "*main.job", "", values{row.Made: 1, row.Puts: 1000, row.Back: 1000, row.Deletes: 900, row.RemovedFront: 900, row.AllocBytes: 48000, row.MaxElem: 8, row.MaxLen: 100}), Judgement{
			NS: 1000 * (100 + 40 - 10), Bytes: 40000, Ops: 6000,
			Advice:   "a ring buffer of *main.job, or a slice that is appended to and cut in front, instead of container/list saves 1,000 allocations and 0 steps over pointers, as all operations are at the ends",
			Evidence: []string{"1 list, of up to 100 elements each", "put in: 0 in front, 1,000 at the end, 0 in the middle; removed: 900, 0, 0; moved: 0", "walked: 0 steps forward, 0 backwards"},
		}},
		{"list-to-slist", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Back: 500, row.Middle: 500, row.Steps: 100, row.AllocBytes: 56000, row.MaxElem: 8, row.MaxLen: 100, row.Deletes: 10, row.RemovedMiddle: 10}), Judgement{
			NS: 1000*100 + 40000, Bytes: 40000, Ops: 5000,
			Advice:   "a list of nodes {next; value int} takes 16 B an element instead of 56 B: it is never walked backwards",
			Evidence: []string{"1 list, of up to 100 elements each", "put in: 0 in front, 500 at the end, 500 in the middle; removed: 0, 0, 10; moved: 0", "walked: 100 steps forward, 0 backwards"},
			Stoppers: []string{"10 elements are removed from the middle: such a list removes only the element behind a known one"},
		}},
		{"slice-to-map", rowOf(row.Search, "string", "slices.Index[...] /go/src/slices/slices.go:97", values{row.Made: 100, row.Compared: 5000, row.SearchedAgain: 99, row.SearchedIn: 2, row.Misses: 50, row.MaxLen: 100, row.MaxElem: 16}), Judgement{
			NS: 5000*4 - 100*20 - 2*100*50, Ops: 5000 - 100 - 200,
			Advice:   "a map[string]struct{}, or one to the index, by the elements instead of a search through a []string saves examining 50 elements in each of 100 searches",
			Evidence: []string{"slices of up to 100 elements (p50 100), 99% of the searches in a slice searched before; about 2 slices", "50% of the searches found nothing"},
			Stoppers: []string{"a map has no order, and each key once: check whether that matters"},
		}},
		{"slice-to-list", rowOf(row.Shift, "int", "slices.Insert[...] /go/src/slices/slices.go:142", values{row.Made: 100, row.Puts: 100, row.Front: 100, row.Moved: 5000, row.Copied: 40000, row.MaxLen: 100}), Judgement{
			NS: 100*10 + 40000*0.5 - 100*5, Ops: 5000 - 100,
			Advice:   "a ring buffer (a deque) of int instead of a slice saves moving 50 elements in each of 100 insertions in front; or append, and walk backwards; container/list second",
			Evidence: []string{"100 in front, 0 in the middle, 0 at the end, in slices of up to 100 elements (p50 100); 39.1 KiB were moved"},
		}},
		{"slice-to-list", rowOf(row.Shift, "int", "slices.Delete[...] /go/src/slices/slices.go:227", values{row.Made: 100, row.Deletes: 100, row.Middle: 100, row.Moved: 5000, row.Copied: 40000, row.MaxLen: 100}), Judgement{
			NS: 100*10 + 40000*0.5 - 100*5, Ops: 5000 - 100,
			Advice:   "a list of int (container/list) instead of a slice saves moving 50 elements in each of 100 deletions in the middle; a gap buffer, if they follow one another",
			Evidence: []string{"0 in front, 100 in the middle, 0 at the end, in slices of up to 100 elements (p50 100); 39.1 KiB were moved"},
			Stoppers: []string{"finding a place in a list takes a walk, unless its element is kept", "a list has no index: check whether elements are accessed by one"},
		}},
		{"ordered-to-unordered", rowOf(row.Shift, "int", "slices.Insert[...] /go/src/slices/slices.go:142", values{row.Made: 100, row.Puts: 100, row.Middle: 100, row.InOrder: 95, row.Moved: 5000, row.Copied: 40000, row.MaxLen: 255}), Judgement{
			NS: 100*10 + 40000*0.5 + 800*8 - 100*50, Ops: 5000 + 800 - 100,
			Advice:   "a map instead of a []int that is kept sorted saves moving 50 elements in each of 100 insertions, and 800 steps of binary searches",
			Evidence: []string{"0 in front, 100 in the middle, 0 at the end, in slices of up to 255 elements (p50 255); 39.1 KiB were moved", "95% of them where a binary search ended"},
			Stoppers: []string{"a map has no order: check whether the elements are walked in order"},
		}},
		{"sort", rowOf(row.Sort, "int", "slices.Sort[...] /go/src/slices/sort.go:18", values{row.Made: 10, row.NS: 100_000, row.Again: 8, row.AgainNS: 90_000, row.AgainMore: 8, row.AgainElements: 8 * 255, row.MaxElem: 8, row.MaxLen: 300, row.Gets: 640, row.Misses: 6}), Judgement{
			NS: 90_000 - 8*(8*8+10+255.0/2*8*0.5), Ops: 8*255 - 8*8,
			Advice:   "slices.BinarySearch and slices.Insert keep the []int sorted, which is now sorted as a whole 8 times for 8 elements more; or sort it once, when it is complete; or container/heap, if only the first element is taken",
			Evidence: []string{"10 sorts of up to 300 elements (p50 300) took 100µs", "0.9% of neighbours were in the wrong order before, in a sample", "8 sorts of sorted slices, with 1 more each, took 90.0µs"},
		}},
		{"sort-slice", rowOf(row.Sort, "main.record", "sort.Slice /go/src/sort/slice.go:29", values{row.Made: 10, row.NS: 100_000, row.Compared: 5000, row.MaxElem: 24, row.MaxLen: 100}), Judgement{
			NS: 5000 * 4, Ops: 5000,
			Advice:   "slices.SortFunc of []main.record instead of sort.Slice swaps without reflection, in 10 sorts",
			Evidence: []string{"10 sorts of up to 100 elements (p50 100) took 100µs"},
		}},
		{"map-to-slice", rowOf(row.Map, "map[int]int", "", values{row.Made: 1, row.Steps: 10_000, row.Iterations: 100, row.Puts: 100, row.MinLen: 100, row.MaxLen: 100}), Judgement{
			NS: 10_000*5 - 100*10, Ops: 10_000,
			Advice:   "a slice of entries instead of a map[int]int saves 10,000 steps over it: there are no lookups",
			Evidence: []string{"1 map of 100 entries", "about 100 iterations of 10,000 steps, 0 look-ups, 100 stores, 0 deletions"},
		}},
		{"map-inefficient", rowOf(row.Map, "map[string]int", "", values{row.Made: 1, row.Gets: 900, row.Puts: 100, row.HashedBytes: 108_000, row.MinLen: 100, row.MaxLen: 100}), Judgement{
			NS: 1000 * 100 * 0.5, Ops: 13_500,
			Advice:   "short keys instead of those of 108 bytes, which each operation on the map[string]int hashes and compares: an id of the value, or unique.Make of keys that are often looked up",
			Evidence: []string{"1 map of 100 entries", "about 900 look-ups and 100 stores"},
			Stoppers: []string{"making a short key from a long one takes as long, once"},
		}},
		{"map-inefficient", rowOf(row.Map, "map[float64]int", "", values{row.Made: 1, row.Puts: 100, row.NaNs: 40, row.MaxElem: 8, row.MaxKey: 8, row.MinLen: 50, row.MaxLen: 50}), Judgement{
			NS: 40 * 50, Bytes: 40 * 17, Ops: 40,
			Advice:   "keys that are NaN make the map[float64]int grow: none of about 40 stores is ever found, and only clear deletes them; leave them out, or key by math.Float64bits",
			Evidence: []string{"1 map of 50 entries"},
		}},
	} {
		if j := judged(t, c.id, c.row); !reflect.DeepEqual(j, c.Judgement) {
			t.Errorf("%s:\n%+v, want\n%+v", c.id, j, c.Judgement)
		}
	}
}

// TestListsRulesSilent has similar rows without advice.
func TestListsRulesSilent(t *testing.T) {
	search := "slices.Index[...] /go/src/slices/slices.go:97"
	for _, c := range []struct {
		id, why string
		row     *Row
	}{
		{"list-to-slice", "edits in the middle", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Back: 900, row.Middle: 100, row.Steps: 5000, row.AllocBytes: 56000})},
		{"list-to-slice", "elements that move", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Front: 1000, row.Moved: 5000, row.AllocBytes: 56000})},
		{"list-to-slice", "no operations that were seen", rowOf(row.List, "", "", values{row.Made: 1})},
		{"list-to-slist", "walks backwards", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Middle: 500, row.Back: 500, row.Backward: 1, row.AllocBytes: 56000})},
		{"list-to-slist", "removals at the end", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Middle: 500, row.Back: 500, row.Deletes: 5, row.AllocBytes: 56000})},
		{"list-to-slist", "a slice that does", rowOf(row.List, "int", "", values{row.Made: 1, row.Puts: 1000, row.Back: 1000, row.AllocBytes: 56000})},
		{"slice-to-map", "short slices", rowOf(row.Search, "int", search, values{row.Made: 1e6, row.Compared: 1e7, row.SearchedAgain: 1e6, row.SearchedIn: 1, row.MaxLen: 20})},
		{"slice-to-map", "slices that are searched once", rowOf(row.Search, "int", search, values{row.Made: 1e6, row.Compared: 1e9, row.SearchedIn: 1e6, row.MaxLen: 1000})},
		{"slice-to-map", "maps that cost more to make", rowOf(row.Search, "int", search, values{row.Made: 100, row.Compared: 5000, row.SearchedAgain: 100, row.SearchedIn: 50, row.MaxLen: 100})},
		{"slice-to-map", "DeleteFunc", rowOf(row.Search, "int", "slices.DeleteFunc[...] /go/src/slices/slices.go:240", values{row.Made: 1000, row.Compared: 1e6, row.SearchedAgain: 1000, row.SearchedIn: 1, row.MaxLen: 1000})},
		{"slice-to-list", "insertions at the end", rowOf(row.Shift, "int", "", values{row.Made: 100, row.Puts: 100, row.Back: 60, row.Front: 40, row.Moved: 5000, row.Copied: 40000})},
		{"slice-to-list", "few that move", rowOf(row.Shift, "int", "", values{row.Made: 1000, row.Deletes: 1000, row.Front: 1000, row.Moved: 5000, row.Copied: 40000})},
		{"slice-to-list", "what is kept sorted", rowOf(row.Shift, "int", "", values{row.Made: 100, row.Puts: 100, row.Middle: 100, row.InOrder: 100, row.Moved: 5000, row.Copied: 40000})},
		{"ordered-to-unordered", "insertions that nobody searched for", rowOf(row.Shift, "int", "", values{row.Made: 100, row.Puts: 100, row.Middle: 100, row.InOrder: 50, row.Moved: 5000, row.Copied: 40000})},
		{"ordered-to-unordered", "what comes in order", rowOf(row.Shift, "int", "", values{row.Made: 1000, row.Puts: 1000, row.Back: 950, row.Middle: 50, row.InOrder: 1000, row.Moved: 50000, row.Copied: 400000})},
		{"sort", "slices that are filled anew", rowOf(row.Sort, "int", "", values{row.Made: 100, row.NS: 1e9})},
		{"sort", "much that was appended", rowOf(row.Sort, "int", "", values{row.Made: 100, row.NS: 1e9, row.Again: 99, row.AgainNS: 1e9, row.AgainMore: 99 * 50, row.AgainElements: 99 * 300})},
		{"sort-slice", "another function", rowOf(row.Sort, "main.record", "slices.SortFunc[...] /go/src/slices/sort.go:32", values{row.Made: 10, row.NS: 100_000, row.Compared: 5000})},
		{"sort-slice", "sorts that insertions replace", rowOf(row.Sort, "main.record", "sort.Slice /go/src/sort/slice.go:29", values{row.Made: 10, row.NS: 100_000, row.Compared: 5000, row.Again: 9, row.AgainNS: 90_000, row.AgainMore: 9, row.AgainElements: 9 * 300})},
		{"map-to-slice", "look-ups", rowOf(row.Map, "map[int]int", "", values{row.Made: 1, row.Steps: 10_000, row.Gets: 1000, row.Puts: 100, row.MaxLen: 100})},
		{"map-inefficient", "short keys", rowOf(row.Map, "map[string]int", "", values{row.Made: 1, row.Gets: 1e6, row.HashedBytes: 2e7})},
		{"map-inefficient", "keys of one word", rowOf(row.Map, "map[int]int", "", values{row.Made: 1, row.Gets: 1e6, row.MaxKey: 8})},
	} {
		if j := judged(t, c.id, c.row); j.Advice != "" && (j.NS > 0 || j.Bytes > 0) {
			t.Errorf("%s is reported of %s: %s", c.id, c.why, strings.TrimSpace(j.Advice))
		}
	}
}
