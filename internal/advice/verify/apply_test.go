package verify

import (
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice"
)

// TestApply changes bodies of a function. The line of the place ends with «, which is not
// part of it; want is that line, or else the one with the declaration.
func TestApply(t *testing.T) {
	const slice, table = "[]int", "map[string]int"
	for _, c := range []struct {
		name, typ string
		body      string
		want      string // replacement of the changed line
	}{
		{"make without a capacity", slice, "v := make([]int, 0) «", "v := make([]int, 0, 100)"},
		{"make with another", slice, "v := make([]int, 0, 4) «", "v := make([]int, 0, 100)"},
		{"with a length", slice, "v := make([]int, 10) «", "v := make([]int, 10, 100)"},
		{"with a length that is computed", slice, "v := make([]int, len(a)) «", "v := make([]int, len(a), max(len(a), 100))"},
		{"with a length and a capacity", slice, "v := make([]int, n, n+8) «", "v := make([]int, n, max(n, 100))"},
		{"in a call", slice, "use(make([]int, 0), nil) «", "use(make([]int, 0, 100), nil)"},
		{"literal", slice, "v := []int{} «", "v := make([]int, 0, 100)"},
		{"declared", slice, "var v []int\n\tfor i := range 9 {\n\t\tv = append(v, i) «\n\t}", "var v []int = make([]int, 0, 100)"},
		{"declared, and emptied", slice, "var v []int\n\tv = v[:0]\n\tv = append(v, 1) «", "var v []int = make([]int, 0, 100)"},
		{"a make further up", slice, "v := make([]int, 0)\n\tv = append(v, 1) «", "v := make([]int, 0, 100)"},
		{"a literal further up", slice, "v, w := []int{}, 1\n\t_ = w\n\tv = append(v, 1) «", "v, w := make([]int, 0, 100), 1"},
		{"in a closure", slice, "var v []int\n\tfunc() {\n\t\tv = append(v, 1) «\n\t}()", "var v []int = make([]int, 0, 100)"},
		{"one of two types", slice, "v, w := make([]int, 0), make([]string, 0) «", "v, w := make([]int, 0, 100), make([]string, 0)"},
		{"a type of the package", "main.pair", "v := make([]pair, 0) «", "v := make([]pair, 0, 100)"},
		{"a slice type of the package", slice, "v := make(list, 0) «", "v := make(list, 0, 100)"},
		{"a slice type that is declared", slice, "var v list\n\tv = append(v, 1) «", "var v list = make(list, 0, 100)"},
		{"map", table, "m := make(map[string]int) «", "m := make(map[string]int, 100)"},
		{"map with a hint", table, "m := make(map[string]int, 4) «", "m := make(map[string]int, 100)"},
		{"map literal", table, "m := map[string]int{} «", "m := make(map[string]int, 100)"},
		{"map that grows", table, "m := map[string]int{}\n\tm[\"a\"] = 1 «", "m := make(map[string]int, 100)"},
		{"map that counts", table, "var m map[string]int\n\tm = make(map[string]int)\n\tm[\"a\"]++ «", "m = make(map[string]int, 100)"},
		{"map that adds up", table, "m := map[string]int{}\n\tm[\"a\"] += 2 «", "m := make(map[string]int, 100)"},
		{"channel", "chan int", "c := make(chan int) «", "c := make(chan int, 100)"},
		{"channel with a buffer", "chan int", "c := make(chan int, 4) «", "c := make(chan int, 100)"},
		{"one of two channels", "chan int", "c, d := make(chan int), make(chan bool) «", "c, d := make(chan int, 100), make(chan bool)"},
		{"map, not the slice beside it", table, "m, v := map[string]int{}, []int{} «", "m, v := make(map[string]int, 100), []int{}"},
	} {
		src, p := place(t, c.body, c.typ)
		got, err := apply([]byte(src), p, advice.Fix{What: "capacity", N: 100})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		before, after := strings.Split(src, "\n"), strings.Split(string(got), "\n")
		if len(before) != len(after) {
			t.Errorf("%s: lines move:\n%s", c.name, got)
			continue
		}
		var changed []string
		for i := range before {
			if before[i] != after[i] {
				changed = append(changed, strings.TrimSpace(after[i]))
			}
		}
		if len(changed) != 1 || changed[0] != c.want {
			t.Errorf("%s: changed are %q, want %q", c.name, changed, c.want)
		}
	}
}

// TestApplyRefuses: a change that can't be made mechanically has a reason.
func TestApplyRefuses(t *testing.T) {
	capacity := advice.Fix{What: "capacity", N: 100}
	for _, c := range []struct {
		name, typ, body string
		fix             advice.Fix
		want            string
	}{
		{"no fix", "", "v := make([]int, 0) «", advice.Fix{}, "this advice can't be applied automatically"},
		{"another fix", "", "v := make([]int, 0) «", advice.Fix{What: "ring", N: 1}, `kind of fix "ring"`},
		{"no capacity", "", "v := make([]int, 0) «", advice.Fix{What: "capacity"}, "no capacity"},
		{"a length that is more", "", "v := make([]int, 200) «", capacity, "its initial length of 200"},
		{"a length that is a call", "", "v := make([]int, f()) «", capacity, "its length is computed"},
		{"two of a type", "", "v, w := make([]int, 0), make([]int, 0) «", capacity, "makes several"},
		{"a parameter", "", "a = append(a, 1) «", capacity, "a grows there, and is a parameter"},
		{"a field", "", "x.list = append(x.list, 1) «", capacity, "x.list grows on line"},
		{"of the package", "", "all = append(all, 1) «", capacity, "all grows there, and is declared outside"},
		{"given by a call", "", "v := given()\n\tv = append(v, 1) «", capacity, "line 13 sets it without a capacity"},
		{"made twice", "", "v := make([]int, 0)\n\tv = make([]int, 1)\n\tv = append(v, 1) «", capacity, "is made on line 13 and on line 14"},
		{"declared beside another", "", "var v, w []int\n\t_ = w\n\tv = append(v, 1) «", capacity, "line 13 sets it without a capacity"},
		{"several lines", "", "v := []int{ «\n\t}", capacity, "has several lines"},
		{"its address is taken", "", "v := &[]int{} «", capacity, "makes nothing"},
		{"elements", "", "v := []int{1, 2} «", capacity, "makes nothing"},
		{"an array", "", "v := [4]int{} «", capacity, "makes nothing"},
		{"a channel that is sent to", "chan int", "c := make(chan int)\n\tc <- 1 «", capacity, "makes nothing"},
		{"nothing", "", "n++ «", capacity, "line 13 makes nothing"},
	} {
		src, p := place(t, c.body, c.typ)
		got, err := apply([]byte(src), p, c.fix)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q;\n%s", c.name, err, c.want, got)
		}
	}
	src, p := place(t, "v := make([]int, 0) «", "")
	p.Func = "main.other"
	if _, err := apply([]byte(src), p, capacity); err == nil || !strings.Contains(err.Error(), "is in the function body, not in main.other") {
		t.Errorf("another function: %v", err)
	}
	p.Line = 1000
	if _, err := apply([]byte(src), p, capacity); err == nil || !strings.Contains(err.Error(), "in no function") {
		t.Errorf("behind the end: %v", err)
	}
}

// place returns a file with a function's body, and the place of the marked line.
func place(t *testing.T, body, typ string) (src string, p Place) {
	t.Helper()
	src = `package main

import "example.com/unknown"

type pair struct{ a, b int }
type list []int
type object struct{ list []int }

var all []int

// body has an argument of each kind.
func body[T any](a []int, n int, x *object) {
	` + body + `
	unknown.Call(a)
}
`
	at := strings.Index(src, " «")
	if at < 0 {
		t.Fatalf("%s: no line is meant", body)
	}
	src = strings.Replace(src, " «", "", 1)
	p = Place{Func: "main.body[...].func1", File: "main.go", Line: 1 + strings.Count(src[:at], "\n"), Type: strings.TrimPrefix(strings.TrimPrefix(typ, "[]"), "chan ")}
	switch {
	case strings.HasPrefix(typ, "map"):
		p.Kind = mapKind
	case strings.HasPrefix(typ, "chan"):
		p.Kind = chanKind
	}
	return src, p
}

// TestIs lists the runtime's names of functions.
func TestIs(t *testing.T) {
	for _, c := range []struct {
		declared, name string
		want           bool
	}{
		{"grow", "main.grow", true}, {"grow", "main.(*T).grow", true}, {"grow", "example.com/a.b/c.T.grow.func1", true}, {"grow", "main.grow[...]", true},
		{"grow", "main.(*T[...]).grow-range1", true}, {"grow", "main.grower", false}, {"main", "main.main", true}, {"init", "main.init.0", true},
	} {
		if got := is(c.declared, c.name); got != c.want {
			t.Errorf("%s of %s: %v", c.declared, c.name, got)
		}
	}
}

// TestPlaceOf reads sites.
func TestPlaceOf(t *testing.T) {
	got, err := placeOf(&advice.Finding{ID: "map-too-small", Site: "main.grow /a/b c.go:12", Type: "map[int]int"})
	if want := (Place{"main.grow", "/a/b c.go", 12, mapKind, "map[int]int"}); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, site := range []string{"", "main.grow", "main.grow /a/b.go:x"} {
		if _, err := placeOf(&advice.Finding{Site: site}); err == nil {
			t.Errorf("%q is a place", site)
		}
	}
}
