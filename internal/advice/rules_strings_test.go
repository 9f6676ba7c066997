package advice

import (
	"math"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
)

// uses returns a row of a kind with values, and a call stack that begins with frames of the
// standard library.
func uses(k row.Kind, typ string, v map[row.Value]int64, std ...string) *Row {
	r := &Row{Row: row.Row{Kind: k, Type: typ}, NS: 1e6, root: "/go/src/"}
	for _, f := range std {
		r.Stack = append(r.Stack, f+" /go/src/"+strings.TrimSuffix(strings.SplitN(f, ".", 2)[0], ".")+"/x.go:1")
	}
	r.Stack = append(r.Stack, "main.f /src/p/f.go:7")
	for x, n := range v {
		r.Stats.V[x] = n
	}
	return r
}

// TestUseRules: rows with a problem give advice with its gain, and similar ones none.
func TestUseRules(t *testing.T) {
	w := Weights{copyByte: 1, alloc: 100, allocByte: 2, allocAgain: 2, allocTiny: 40, poolUse: 10, regexpByte: 500}
	type values = map[row.Value]int64
	concat := values{row.Made: 12, row.Grown: 10, row.Copied: 1000, row.AllocBytes: 1100, row.MaxLen: 200}
	front := values{row.Made: 12, row.Grown: 10, row.Copied: 1000, row.AllocBytes: 1100, row.MaxLen: 200, row.Front: 10}
	grown := values{row.Made: 5, row.Exact: 5, row.Grown: 20, row.Copied: 500, row.GrownBytes: 600, row.MaxLen: 300, row.MinLen: 300}
	all := values{row.Made: 2, row.Exact: 2, row.Grown: 6, row.Copied: 500, row.GrownBytes: 500}
	pieces := values{row.Made: 2, row.Exact: 2, row.Grown: 6, row.Copied: 500, row.GrownBytes: 500, row.CapBytes: 600}
	convert := values{row.Made: 50, row.Allocs: 50, row.AllocBytes: 5000}
	runes := values{row.Made: 50, row.Allocs: 50, row.AllocBytes: 5000, row.OfRunes: 50}
	io := values{row.Made: 101, row.Small: 100, row.SmallBytes: 40960, row.NS: 50_000}
	few := values{row.Made: 300, row.Small: 100, row.SmallBytes: 40960, row.NS: 50_000}
	box := values{row.Made: 300, row.Allocs: 300, row.AllocBytes: 2400, row.MaxLen: 8}
	large := values{row.Made: 300, row.Allocs: 300, row.AllocBytes: 7200, row.MaxLen: 24}
	pool := values{row.Made: 1, row.Gets: 2000, row.Misses: 1500, row.NS: 90_000, row.Puts: 100}
	back := values{row.Made: 1, row.Gets: 2000, row.Misses: 1500, row.NS: 90_000, row.Puts: 1900}
	dead := values{row.Made: 30, row.Allocs: 1000, row.AllocBytes: 300_000, row.Frees: 950}
	live := values{row.Made: 30, row.Allocs: 1000, row.AllocBytes: 300_000, row.Frees: 500}
	little := values{row.Made: 30, row.Allocs: 1000, row.AllocBytes: 100_000, row.Frees: 950}
	compiled := values{row.Made: 100, row.Recompiled: 90, row.RecompiledBytes: 900, row.NS: 9e5}
	differ := values{row.Made: 100, row.Recompiled: 9, row.NS: 9e4}
	for _, c := range []struct {
		name, id string
		r        *Row
		ns       float64 // 0: no advice
		says     string
	}{
		{"a string that is built", "string-concat", uses(row.Concat, "", concat), (1000 - 100) + 2*(1100-300) + 10*100, "a strings.Builder instead of + saves 10 allocations and copying 0.98 KiB"},
		{"from its end", "string-concat", uses(row.Concat, "", front), (1000 - 100) + 2*(1100-300) + 10*100, "slices.Reverse and strings.Join"},
		{"expressions", "string-concat", uses(row.Concat, "", values{row.Made: 100_000}), 0, ""},
		{"the standard library's", "string-concat", uses(row.Concat, "", concat, "net/url.f"), 0, ""},
		{"a builder", "builder-growth", uses(row.Slice, "uint8", grown, "strings.(*Builder).WriteString"), 500 + 2000 + 1200, "b.Grow("},
		{"a builder that fmt writes to", "builder-growth", uses(row.Slice, "uint8", grown, "strings.(*Builder).Write", "fmt.Fprintf"), 500 + 2000 + 1200, "b.Grow("},
		{"a builder of the standard library's", "builder-growth", uses(row.Slice, "uint8", grown, "strings.(*Builder).Write", "strings.Map"), 0, ""},
		{"a slice", "builder-growth", uses(row.Slice, "uint8", grown), 0, ""},
		{"a builder, as a slice", "slice-too-small", uses(row.Slice, "uint8", grown, "strings.(*Builder).WriteString"), 0, ""},
		{"a buffer", "buffer-growth", uses(row.Slice, "uint8", grown, "bytes.growSlice", "bytes.(*Buffer).grow", "bytes.(*Buffer).Write"), 500 + 2000 + 1200, "b.Grow("},
		{"a buffer that is given too little", "buffer-growth", uses(row.Slice, "uint8", grown, "bytes.growSlice", "bytes.(*Buffer).grow", "bytes.(*Buffer).Grow"), 500 + 2000 + 1200, "instead of less"},
		{"a builder, as a buffer", "buffer-growth", uses(row.Slice, "uint8", grown, "strings.(*Builder).Write"), 0, ""},
		{"a file that is read", "read-all", uses(row.Slice, "", all, "io.ReadAll"), 3*500 + 600, "io.ReadFull"},
		{"its pieces", "read-all", uses(row.Slice, "uint8", pieces, "io.ReadAll"), 0, ""},
		{"conversions", "bytes-string-conversion", uses(row.Convert, "string", convert), 5000 + 15_000, "keeping the []byte"},
		{"back", "bytes-string-conversion", uses(row.Convert, "slice", convert), 5000 + 15_000, "keeping the string"},
		{"runes", "bytes-string-conversion", uses(row.Convert, "", runes), 5000 + 15_000, "range over the string"},
		{"of a buffer", "bytes-string-conversion", uses(row.Convert, "string", convert, "bytes.(*Buffer).String"), 5000 + 15_000, "a strings.Builder, whose String"},
		{"the standard library's", "bytes-string-conversion", uses(row.Convert, "string", convert, "strconv.f"), 0, ""},
		{"few conversions", "bytes-string-conversion", uses(row.Convert, "string", values{row.Made: 5, row.Allocs: 5, row.AllocBytes: 500}), 0, ""},
		{"one regular expression", "regexp-in-loop", uses(row.Compile, "", compiled, "regexp.compile", "regexp.MatchString"), 900 * 500, "saves compiling 90 regular expressions again"},
		{"many that differ", "regexp-in-loop", uses(row.Compile, "", differ, "regexp.compile", "regexp.MatchString"), 0, ""},
		{"the standard library's", "regexp-in-loop", uses(row.Compile, "", compiled, "regexp.compile", "testing.f"), 0, ""},
		{"small writes", "small-io", uses(row.Output, "", io, "os.(*File).Write"), 50_000*0.9 - 1000, "bufio.NewWriter around it, with a Flush at the end, saves 90 of 100 system calls"},
		{"small reads", "small-io", uses(row.Input, "", io, "os.(*File).Read"), 50_000*0.9 - 1000, "bufio.NewReader"},
		{"buffered writes", "small-io", uses(row.Output, "", io, "os.(*File).Write", "bufio.(*Writer).Flush"), 0, ""},
		{"mostly large writes", "small-io", uses(row.Output, "", few, "os.(*File).Write"), 0, ""},
		{"numbers in an interface", "boxing", uses(row.Box, "64-bit number", box), 300*40 + 4800, "saves 300 allocations"},
		{"structs in an interface", "boxing", uses(row.Box, "p.T", large), 300*100 + 14_400, "saves 300 allocations"},
		{"the standard library's", "boxing", uses(row.Box, "p.T", large, "sort.f"), 0, ""},
		{"nothing is put back", "pool-miss", uses(row.Pool, "", pool, "sync.(*Pool).Get"), 90_000 - 15_000, "Put back the value from this Get"},
		{"all is put back", "pool-miss", uses(row.Pool, "", back, "sync.(*Pool).Get"), 0, ""},
		{"a pool of the standard library's", "pool-miss", uses(row.Pool, "", pool, "sync.(*Pool).Get", "fmt.newPrinter"), 0, ""},
		{"what dies", "allocation-churn", uses(row.Alloc, "", dead), 1000*90 + 600_000, "saves up to 1,000 allocations of 293 KiB"},
		{"what lives", "allocation-churn", uses(row.Alloc, "", live), 0, ""},
		{"what is small", "allocation-churn", uses(row.Alloc, "", little), 0, ""},
		{"a pool's New", "allocation-churn", func() *Row {
			r := uses(row.Alloc, "", dead)
			r.Stack = append(r.Stack, "sync.(*Pool).Get /go/src/sync/pool.go:1")
			return r
		}(), 0, ""},
	} {
		t.Run(c.id+"/"+c.name, func(t *testing.T) {
			for _, rule := range Rules {
				if rule.ID != c.id {
					continue
				}
				j := rule.Judge(c.r, w)
				if math.Abs(j.NS-c.ns) > 1e-6 || (j.Advice == "") != (c.says == "") || !strings.Contains(j.Advice, c.says) {
					t.Errorf("%g ns: %q, want %g: %q", j.NS, j.Advice, c.ns, c.says)
				}
				return
			}
			t.Error("there is no such rule")
		})
	}
}

// TestRest: a place that one rule explains is not reported again for its allocations.
func TestRest(t *testing.T) {
	pool := uses(row.Alloc, "", map[row.Value]int64{row.Made: 30, row.Allocs: 1e6, row.AllocBytes: 3e8, row.Frees: 1e6})
	concat := uses(row.Concat, "", map[row.Value]int64{row.Made: 1e6, row.Grown: 1e6, row.Copied: 1e9, row.AllocBytes: 1e9})
	for _, c := range []struct {
		rows []row.Row
		want string
	}{{[]row.Row{pool.Row}, "allocation-churn"}, {[]row.Row{pool.Row, concat.Row}, "string-concat"}} {
		if r := Of(merged(t, run(c.rows...)), DefaultParams()); len(r.Findings) != 1 || r.Findings[0].ID != c.want {
			t.Errorf("%+v, want %s", r.Findings, c.want)
		}
	}
}
