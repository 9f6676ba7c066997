package glob

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		expr    string
		in, out string // names separated by blanks
	}{
		{"", "a store.mu", ""},
		{"  ", "a", ""},
		{"a", "a", "b aa A"},
		{"store.*", "store. store.mu store.a.b", "store xstore.mu"},
		{"*", "a store.mu", ""},
		{"*mu", "mu store.mu", "mux store.mux"},
		{"a*b*c", "abc a-b-c abbcbc", "ab acb abcd"},
		{"**", "a", ""},
		{"a?c", "abc aéc a\xffc", "ac abbc"},
		{"?", "a é 世", "ab"},
		{"*é?", "xéy éy", "xé"},
		{"a,b", "a b", "c"},
		{" a , b ", "a b", "c"},
		{"-a", "b store.mu", "a"},
		{"-a,-b*", "c ab", "a b bb"},
		{"store.*,-store.mu", "store.x", "store.mu other"},
		{"-store.mu,store.*", "store.x store.mu", "other"},
		{"*,-http.*,http.slow", "a http.slow", "http.fast"},
		{"-http.*,http.slow", "http.slow", "a http.fast"},
		{"--x", "a", "-x"},
		{"?x", "-x ,x *x", "x"},
	} {
		f, err := Parse(test.expr)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.expr, err)
			continue
		}
		if f.String() != test.expr && strings.TrimSpace(test.expr) != "" {
			t.Errorf("Parse(%q).String() = %q", test.expr, f.String())
		}
		for name := range strings.FieldsSeq(test.in) {
			if !f.Match(name) {
				t.Errorf("%q leaves out %q", test.expr, name)
			}
		}
		for name := range strings.FieldsSeq(test.out) {
			if f.Match(name) {
				t.Errorf("%q takes %q", test.expr, name)
			}
		}
	}
}

func TestEmptyName(t *testing.T) {
	for expr, want := range map[string]bool{"": true, "*": true, "-*": false, "?": false, "-a": true, "a": false} {
		f, err := Parse(expr)
		if err != nil {
			t.Fatalf("Parse(%q): %v", expr, err)
		}
		if got := f.Match(""); got != want {
			t.Errorf("%q: the empty name: %v, want %v", expr, got, want)
		}
	}
}

func TestZero(t *testing.T) {
	var f Filter
	if !f.All() || !f.Match("a") || !f.Match("") {
		t.Error("the zero Filter leaves something out")
	}
	if f, _ := Parse("*"); f.All() {
		t.Error("a Filter with a pattern calls itself zero")
	}
}

func TestParseErrors(t *testing.T) {
	for _, expr := range []string{",", "a,", ",a", "a,,b", "-", "a,-", "a, - ,b"} {
		if f, err := Parse(expr); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", expr, f)
		} else if !strings.Contains(err.Error(), "pattern is empty") {
			t.Errorf("Parse(%q): %v", expr, err)
		}
	}
}

// TestHostile matches expressions for which a backtracking matcher takes the product
// of the lengths for each pattern: here 4 ms a name, and 34 s in a program with many
// long names.
func TestHostile(t *testing.T) {
	for _, test := range []struct{ pattern, name string }{
		{strings.Repeat("*a", 60) + "b", "a"},
		{"*" + strings.Repeat("a", MaxExpr-2) + "b", "a"},
		{strings.Repeat("*a,", MaxExpr/3-1) + "*b", "a"},
		{"*" + strings.Repeat("?", 900) + "b", "a"},
		{strings.Repeat("*?a,", MaxExpr/4-1) + "*?b", "é"},
	} {
		f, err := Parse(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.Repeat(test.name, 1024/len(test.name)-1) + "c"
		took := least(func() {
			if f.Match(name) {
				t.Errorf("%.20q… matches", test.pattern)
			}
		})
		// The time of going over all possible words once for each character, in this
		// build.
		var words [maxWords]uint64
		once := least(func() {
			for range name {
				for i := range words {
					words[i] = words[i]<<1 | uint64(i)
				}
			}
		})
		if took > 10*once {
			t.Errorf("%.20q… takes %v for a name of %d bytes, want at most ten times %v", test.pattern, took, len(name), once)
		}
	}
}

// least returns the minimum time that f takes.
func least(f func()) time.Duration {
	d := time.Hour
	for range 10 {
		begin := time.Now()
		f()
		d = min(d, time.Since(begin))
	}
	return d
}

func TestLong(t *testing.T) {
	for _, n := range []int{MaxExpr, MaxExpr + 1, 64 << 10} {
		f, err := Parse(strings.Repeat("a", n))
		switch {
		case n <= MaxExpr && (err != nil || !f.Match(strings.Repeat("a", n)) || f.Match(strings.Repeat("a", n-1))):
			t.Errorf("%d bytes: %v, or they don't match themselves", n, err)
		case n > MaxExpr && (err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d bytes, at most 4000", n)) || len(err.Error()) > 200):
			t.Errorf("%d bytes: %.300v", n, err)
		}
	}
	// A pattern on each side of each word boundary; the last one decides.
	var many []string
	for i := range MaxExpr / 5 {
		many = append(many, fmt.Sprintf("%04d", i))
	}
	f, err := Parse(strings.Join(many, ","))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * len(many) {
		if name := fmt.Sprintf("%04d", i); f.Match(name) != (i < len(many)) {
			t.Errorf("%s: %v", name, f.Match(name))
		}
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	f, err := Parse("*,-http.*,store.?")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { f.Match("http.slow") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzMatch compares matches with the definition, written as a recursion.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a*b?c", "axxbyc"}, {"**", ""}, {"?é*", "xé\xff"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(glob) > 12 || len(name) > 12 || strings.Contains(glob, ",") || strings.TrimSpace(glob) != glob {
			return
		}
		if glob == "" || glob[0] == '-' {
			return
		}
		for _, before := range []string{"", strings.Repeat("x,", 31), strings.Repeat("-*,", 20)} {
			filter, err := Parse(before + glob)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := filter.Match(name), slow(glob, name) || before != "" && before[0] == 'x' && name == "x"; got != want {
				t.Errorf("%q matches %q: %v, want %v", before+glob, name, got, want)
			}
		}
	})
}

func slow(glob, name string) bool {
	switch {
	case glob == "":
		return name == ""
	case glob[0] == '*':
		for i := range name + "." {
			if slow(glob[1:], name[i:]) {
				return true
			}
		}
		return false
	case name == "":
		return false
	case glob[0] == '?':
		for i := range name + "." {
			if i > 0 {
				return slow(glob[1:], name[i:])
			}
		}
		return false
	}
	c, w := char(glob)
	d, _ := char(name)
	return c == d && slow(glob[w:], name[w:])
}
