//go:build !scope_off

package record_test

import (
	"strings"
	"testing"

	. "github.com/scopeview/scopeview/scope"
)

// TestLinks passes a link to every function that takes arguments, with others and
// alone.
func TestLinks(t *testing.T) {
	l, _ := ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	l.Parent, l.Flags = [8]byte{1, 2, 3}, 0 // flags are not recorded
	cases := []struct {
		args []any
		want string // the other arguments
		link bool
		cut  int64
	}{
		{[]any{l}, "", true, 0},
		{[]any{1, l, "text", KV("k", 2)}, `int:1 string:"text" k=int:2`, true, 0},
		{[]any{KV("k", l), 1.5}, "k=float:1.5", true, 0},
		{[]any{Link{}, 1}, "int:1", false, 0},
		{[]any{Link{Span: l.Span}, true}, "bool:true", false, 0},
		{[]any{l, l, 1}, "int:1 cut:1", true, 1},
		{[]any{l, 1, 2, 3, 4, 5, 6, 7}, "int:1 int:2 int:3 int:4 int:5 int:6 int:7", true, 0},
		{[]any{l, 1, 2, 3, 4, 5, 6, 7, 8}, "int:1 int:2 int:3 int:4 int:5 int:6 int:7 cut:1", true, 1},
		{[]any{1, 2, 3, 4, 5, 6, 7, l}, "int:1 int:2 int:3 int:4 int:5 int:6 int:7", true, 0},
		{[]any{1, 2, 3, 4, 5, 6, 7, 8, l}, "int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 cut:1", false, 1},
		{[]any{1, 2, 3, 4, 5, 6, 7, 8, l, 9}, "int:1 int:2 int:3 int:4 int:5 int:6 int:7 int:8 int:9 cut:1", false, 1},
		{[]any{KV("a", "a word's"), KV("b", 2), KV("c", 3), KV("d", 4), KV("e", 5), KV("f", "some two of them")}, `a=string:"a word's" b=int:2 c=int:3 d=int:4 e=int:5 cut:1`, false, 1},
		{[]any{l, strings.Repeat("x", 2000)}, "string:1024 of 2000 bytes", true, 1},
	}
	perBacking(t, func(t *testing.T, backing Option) {
		start(t, backing)
		cut := int64(0)
		for _, c := range cases {
			Task("task", c.args...)()
			Taskf("taskf", c.args...)()
			Event("event", c.args...)
			Pending("pending", c.args...)()
			cut += 4 * c.cut
		}
		Process("process", l, 1)()
		span := Begin("end")
		span.End(l, 1)
		r := stop(t)
		for i, c := range cases {
			for _, e := range r.events[4*i : 4*i+4] {
				got, ok := e.Link()
				if ok != c.link || ok && got != l {
					t.Errorf("%s with %v: the link is %v", e.name, c.args, got)
				}
				args := strings.Join(strings.Fields(strings.ReplaceAll(e.args+" ", "addr ", "")), " ")
				if args != c.want {
					t.Errorf("%s with %v: recorded %s, want %s", e.name, c.args, args, c.want)
				}
			}
		}
		if got, ok := r.named("process")[0].Link(); !ok || got != l {
			t.Errorf("process: the link is %v", got)
		}
		if got, want := r.named("end")[0].endArgs, "addr addr addr addr int:1"; got != want {
			t.Errorf("end: recorded %s, want %s", got, want)
		}
		if n := Stats().Misuse.ArgsCut; n != cut {
			t.Errorf("ArgsCut is %d, want %d", n, cut)
		}
	})
}
