//go:build !scope_off

package record_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestG15Zeros records values that end in zeros, and each time checks what a kill would leave
// now, and a snapshot: the rest of a chunk is zeros too, and the reader must know which of them
// are values.
func TestG15Zeros(t *testing.T) {
	var none *int
	type one struct {
		name   string
		record func()
		want   string
	}
	cases := []one{
		{"a link without a parent", func() {
			l := record.PartOf(Link{})
			record.BeginLinked("linked", &l, nil)
		}, `task "linked" open | addr addr addr addr`},
		{"unsigned", func() { Event("unsigned", uint(1), uint8(0), uint64(0), uint(0)) }, `event "unsigned" | uint:1 uint:0 uint:0 uint:0`},
		{"floats", func() { Event("floats", 1.5, 0.0, 0.0, 0.0) }, `event "floats" | float:1.5 float:0 float:0 float:0`},
		{"no", func() { Event("no", true, false, false, false) }, `event "no" | bool:true bool:false bool:false bool:false`},
		{"no time", func() { Event("no time", 1, 2, time.Duration(0), time.Duration(0)) }, `event "no time" | int:1 int:2 duration:0s duration:0s`},
		{"nil", func() { Event("nil", 1, 2, 3, nil) }, ""},
		{"a nil pointer", func() { Event("nil pointer", 1, 2, 3, none) }, ""},
		{"no text", func() { Event("no text", 1, 2, 3, "") }, `event "no text" | int:1 int:2 int:3 string:""`},
		{"texts of zeros", func() { Event("texts of zeros", "\x00\x00\x00\x00\x00\x00\x00\x00", "") }, `event "texts of zeros" | string:"\x00\x00\x00\x00\x00\x00\x00\x00" string:""`},
		{"named", func() { Event("named", KV("a", 1), KV("b", 0), KV("c", "")) }, `event "named" | a=int:1 b=int:0 c=string:""`},
		{"open", func() { Begin("open", 1, 0, 0, 0) }, `task "open" open | int:1 int:0 int:0 int:0`},
		{"ended", func() { Task("ended", 1, 0, 0, 0)() }, `task "ended" | int:1 int:0 int:0 int:0`},
		{"an end", func() { Begin("end").End(0) }, `task "end" || int:0`},
		{"a long end", func() { Begin("long end").End(1, 2, 0, 0, 0, 0, 0, 0) }, `task "long end" || int:1 int:2 int:0 int:0 int:0 int:0 int:0 int:0`},
		{"a count", func() { Counter("count", 0) }, `counter "count" int:0`},
	}
	for n := 1; n <= 11; n++ {
		args, want := make([]any, n), ` |`
		for i := range args {
			args[i] = 0
			want += " int:0"
		}
		cases = append(cases, one{"zeros", func() { Event("zeros", args...) }, `event "zeros"` + want})
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing, shortTicks())
		for i, c := range cases {
			c.record()
			name := filepath.Join(t.TempDir(), "s.scope")
			for {
				breathe(t) // with the heap, it is in the file then
				r := read(t, Path())
				if r.Header().Backing == format.BackingHeap && len(r.events) <= i {
					continue
				}
				lastIs(t, c.name, r, c.want)
				break
			}
			if err := Snapshot(name); err != nil {
				t.Fatal(err)
			}
			lastIs(t, "snapshot of "+c.name, read(t, name), c.want)
		}
		stop(t)
	})
}

// lastIs checks the last event of a trace. If want is empty, it only must have arguments.
func lastIs(t *testing.T, what string, r *recorded, want string) {
	t.Helper()
	if len(r.events) == 0 {
		t.Errorf("%s: no events", what)
		return
	}
	last := &r.events[len(r.events)-1]
	last.Depth = 0 // its nesting does not matter here
	switch {
	case want != "" && last.String() != want:
		t.Errorf("%s: %s, want %s", what, last, want)
	case want == "" && last.args == "":
		t.Errorf("%s: %s has no arguments", what, last)
	}
}
