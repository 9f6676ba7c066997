package glob

import (
	"strings"
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		expr    string
		in, out string // names with blanks between them
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

// TestManyStars is the pattern on which a matcher that recurses never ends.
func TestManyStars(t *testing.T) {
	f, err := Parse(strings.Repeat("*a", 60) + "b")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if f.Match(strings.Repeat("a", 1024)) {
		t.Error("matched")
	}
	if d := time.Since(begin); d > time.Second {
		t.Errorf("took %v", d)
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

// FuzzMatch compares with the definition, written as a recursion.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a*b?c", "axxbyc"}, {"**", ""}, {"?é*", "xé\xff"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(glob) > 12 || len(name) > 12 {
			return
		}
		if got, want := match(glob, name), slow(glob, name); got != want {
			t.Errorf("match(%q, %q) = %v, want %v", glob, name, got, want)
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
	return glob[0] == name[0] && slow(glob[1:], name[1:])
}
