package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// Characteristic is what a place of the code costs, where no rule has a remedy: the second kind of
// report.
type Characteristic struct {
	Kind  string   `json:"kind"`
	Type  string   `json:"type"`
	NS    int64    `json:"ns"` // that its operations cost, by the weights
	Site  string   `json:"site"`
	Stack []string `json:"stack"`
	Text  string   `json:"text"`
}

// price is what a value of a row costs.
type price struct {
	v      row.Value
	weight string
	what   string
}

// priced are the values that cost something.
var priced = []price{
	{row.Copied, CopyByte, "bytes copied"},
	{row.GrownBytes, AllocByte, "bytes outgrown"},
	{row.Moved, MapMove, "entries moved"},
	{row.Gets, MapGet, "look-ups"},
	{row.Puts, MapPut, "stores"},
	{row.Deletes, MapPut, "deletions"},
	{row.Steps, MapStep, "steps"},
	{row.Compared, Compare, "comparisons"},
	{row.Allocs, Alloc, "allocations"},
	{row.AllocBytes, AllocByte, "bytes allocated"},
}

// pricedOf are those of kinds whose operations cost something else.
var pricedOf = map[row.Kind][]price{
	row.Chan:      {{row.Puts, ChanOp, "sends"}, {row.Gets, ChanOp, "receives"}, {row.Waits, ChanWait, "waits"}},
	row.RWMutex:   {{row.Puts, RWWrite, "times locked to write"}, {row.Gets, RWRead, "times to read"}},
	row.SyncMap:   {{row.Gets, SyncGet, "loads"}, {row.Puts, SyncSwap, "stores"}, {row.Deletes, SyncDelete, "deletions"}},
	row.Goroutine: {{row.Made, GoStart, "started"}},
}

// prices are those of a kind.
func prices(k row.Kind) []price {
	if list, ok := pricedOf[k]; ok {
		return list
	}
	return priced
}

// worst are the rows that cost most and have no advice.
func worst(d *Data, all []*place, p Params, told map[*place]bool) (list []Characteristic) {
	runs := float64(max(d.Runs, 1))
	for _, r := range all {
		if told[r] || p.In != nil && !inside(r.Row, p.In) {
			continue
		}
		c := Characteristic{Kind: r.Kind.String(), Type: r.Type, Site: r.Site(), Stack: r.Stack}
		ns, text := priceOf(r.Row, p.Weights)
		if ns < p.LeastNS*runs || ns < p.LeastShare*d.NS {
			continue
		}
		c.NS = int64(ns)
		c.Text = fmt.Sprintf("%s: %s", many(r.V(row.Made), r.Kind.String()), text)
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b Characteristic) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Site, b.Site)) })
	if p.Count > 0 && len(list) > p.Count {
		list = list[:p.Count]
	}
	return list
}

// priceOf is what the operations of a row cost, and which they are.
func priceOf(r *Row, w Weights) (ns float64, text string) {
	switch r.Kind {
	case row.Scan:
		return scattered(r, w)
	case row.Line:
		return 0, "" // what it costs is what rules say
	}
	var parts []string
	for _, x := range prices(r.Kind) {
		if n := r.V(x.v); n > 0 {
			ns += n * w[x.weight]
			parts = append(parts, count(n)+" "+x.what)
		}
	}
	if r.V(row.NS) > 0 {
		ns += r.V(row.NS)
		parts = append(parts, duration(r.V(row.NS)))
	}
	return ns, strings.Join(parts, ", ")
}
