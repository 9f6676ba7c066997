package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

// Characteristic is the behaviour of a place of the code, and its cost, for which no rule
// has a remedy.
type Characteristic struct {
	Kind  string   `json:"kind" says:"kind of the followed object"`
	Type  string   `json:"type" says:"of elements, or of the map; may be empty"`
	NS    int64    `json:"ns" head:"costs" unit:"ns" says:"the time that its operations cost, by the weights"`
	Site  string   `json:"site" head:"place" says:"function, file and line"`
	Stack []string `json:"stack" says:"a call stack that leads there"`
	Text  string   `json:"text" head:"what" says:"the operations"`
}

// price is the weight of a value of a row.
type price struct {
	v      row.Value
	weight string
	what   string
}

// priced are the values that cost something.
var priced = []price{
	{row.Copied, copyByte, "bytes copied"},
	{row.GrownBytes, allocByte, "bytes outgrown"},
	{row.Moved, mapMove, "entries moved"},
	{row.Gets, mapGet, "look-ups"},
	{row.Puts, mapPut, "stores"},
	{row.Deletes, mapPut, "deletions"},
	{row.Steps, mapStep, "steps"},
	{row.Compared, compare, "comparisons"},
	{row.Allocs, alloc, "allocations"},
	{row.AllocBytes, allocAgain, "bytes allocated"},
}

// pricedOf are the prices of kinds whose operations have other costs.
var pricedOf = map[row.Kind][]price{
	row.Chan:      {{row.Puts, chanOp, "sends"}, {row.Gets, chanOp, "receives"}, {row.Waits, chanWait, "waits"}},
	row.RWMutex:   {{row.Puts, rwWrite, "times locked to write"}, {row.Gets, rwRead, "times to read"}},
	row.Mutex:     {{row.Gets, mutexLock, "times locked to load"}, {row.Puts, mutexLock, "times to store"}},
	row.SyncMap:   {{row.Gets, syncGet, "loads"}, {row.Puts, syncSwap, "stores"}, {row.Deletes, syncDelete, "deletions"}},
	row.Goroutine: {{row.Made, goStart, "started"}},
	row.List:      {{row.AllocBytes, allocByte, "bytes of nodes"}, {row.Puts, alloc, "insertions"}, {row.Steps, listStep, "steps"}, {row.Backward, listStep, "steps backwards"}},
	row.Search:    {{row.Compared, compare, "comparisons"}},
	row.Shift:     {{row.Copied, shiftByte, "bytes moved"}, {row.Made, shift, "in all"}},
	row.Sort:      {}, // their time is known
}

// prices returns the prices of a kind.
func prices(k row.Kind) []price {
	if list, ok := pricedOf[k]; ok {
		return list
	}
	return priced
}

// nouns are the nouns, singular and plural, of kinds that are not named after their
// instances.
var nouns = map[row.Kind][2]string{
	row.Alloc: {}, row.Pool: {"use of a pool", "uses of pools"}, row.Concat: {"concatenation", "concatenations"}, row.Convert: {"conversion", "conversions"},
	row.Box: {"value in an interface", "values in interfaces"}, row.Search: {"search", "searches"}, row.Shift: {"insertion or deletion", "insertions and deletions"},
	row.Input: {"read", "reads"}, row.Output: {"write", "writes"}, row.Compile: {"regular expression", "regular expressions"}, row.Scan: {}, row.Mutex: {"mutex", "mutexes"}, row.RWMutex: {"rwmutex", "rwmutexes"},
}

// amount describes the number of a row's instances.
func (r *Row) amount() string {
	noun, ok := nouns[r.Kind]
	switch {
	case !ok:
		return show.Plural(r.V(row.Made), r.Kind.String()) + ": "
	case noun[0] == "":
		return ""
	}
	return show.Either(r.V(row.Made), noun[0], noun[1]) + ": "
}

// worst returns the most expensive places without advice, or with Statistics all of them.
func worst(d *Data, all []*place, p Params, reported map[*place]bool) (list []Characteristic) {
	runs := float64(max(d.Runs, 1))
	for _, r := range all {
		if reported[r] && !p.Statistics || p.In != nil && !inside(r.Row, p.In) {
			continue
		}
		c := Characteristic{Kind: r.Kind.String(), Type: r.Type, Site: r.Site(), Stack: r.Stack}
		ns, text := priceOf(r.Row, p.Weights)
		if !p.Statistics && (ns < p.LeastNS*runs || ns < p.LeastShare*d.time()) {
			continue
		}
		c.NS = int64(ns)
		c.Text = strings.TrimSuffix(r.amount()+text, ": ")
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Characteristic) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Site, b.Site)) })
	if p.Count > 0 && len(list) > p.Count && !p.Statistics {
		list = list[:p.Count]
	}
	return list
}

// priceOf returns the cost of a row's operations, and describes them.
func priceOf(r *Row, w Weights) (ns float64, text string) {
	switch r.Kind {
	case row.Scan:
		return scattered(r, w)
	case row.Line:
		return 0, "" // rules report its cost
	}
	var parts []string
	for _, x := range prices(r.Kind) {
		if n := r.V(x.v); n > 0 {
			cost := n * w[x.weight]
			ns += cost
			parts = append(parts, fmt.Sprintf("%s %s (%s)", show.Count(n), x.what, show.Duration(cost)))
		}
	}
	if r.V(row.NS) > 0 {
		ns += r.V(row.NS)
		parts = append(parts, show.Duration(r.V(row.NS))+" measured")
	}
	return ns, strings.Join(parts, ", ")
}
