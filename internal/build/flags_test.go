package build

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		verb                          Verb
		args                          string
		flags, packages, rest, listed string
	}{
		{Run, "./cmd/app -v x", "", "./cmd/app", "-v x", ""},
		{Run, "-race -tags a,b . -- -x", "-race -tags a,b", ".", "-- -x", "-race -tags a,b"},
		{Run, "-exec strace\x01-f a.go b.go c", "-exec strace\x01-f", "a.go b.go", "c", ""},
		{Run, "--ldflags=-s -v .", "--ldflags=-s -v", ".", "", "--ldflags=-s"},
		{Build, "-o x -trimpath ./a ./b", "-o x -trimpath", "./a ./b", "", "-trimpath"},
		{Build, "", "", "", "", ""},
		{Test, "-run X ./... -count=1 -v", "-run X -count=1 -v", "./...", "", ""},
		{Test, "./a ./b -race -timeout 5s -args -run z", "-race -timeout 5s", "./a ./b", "-args -run z", "-race"},
		{Test, "-test.run=X -mod mod ./a -custom y", "-test.run=X -mod mod -custom y", "./a", "", "-mod mod"},
	} {
		words := strings.Fields(c.args)
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "\x01", " ")
		}
		l, err := Parse(c.verb, words)
		if err != nil {
			t.Errorf("go %s %s: %v", c.verb, c.args, err)
			continue
		}
		one := func(s []string) string { return strings.Join(s, " ") }
		got := fmt.Sprintf("%q %q %q %q", one(l.Flags), one(l.Packages), one(l.Rest), one(l.listed))
		want := strings.ReplaceAll(fmt.Sprintf("%q %q %q %q", c.flags, c.packages, c.rest, c.listed), `\x01`, " ")
		if got != want {
			t.Errorf("go %s %s: got\n%s, want\n%s", c.verb, c.args, got, want)
		}
	}
	l, err := Parse(Test, []string{"-cover", "-run=A", "-run", "B", "."})
	if err != nil || !l.True("cover") || l.Value("run") != "B" {
		t.Errorf("%+v, %v", l, err)
	}
	for _, args := range []string{"-tags", ". -count"} {
		if l, err := Parse(Test, strings.Fields(args)); err == nil {
			t.Errorf("%s: %+v", args, l)
		}
	}
}

func TestWithout(t *testing.T) {
	got := without(strings.Fields("-race -mod vendor -tags a --mod=mod -v"), "mod")
	if strings.Join(got, " ") != "-race -tags a -v" {
		t.Errorf("%q", got)
	}
}

func TestMatcher(t *testing.T) {
	main := &listedModule{Main: true}
	packages := []*listed{
		{ImportPath: "a.com/m", Dir: "/m", Module: main},
		{ImportPath: "a.com/m/x", Dir: "/m/x", Module: main},
		{ImportPath: "a.com/m/x/y", Dir: "/m/x/y", Module: main},
		{ImportPath: "b.com/d", Dir: "/mod/d", Module: &listedModule{}},
		{ImportPath: "net/http", Dir: "/go/net/http", Standard: true},
	}
	for _, c := range []struct{ patterns, want string }{
		{"", "a.com/m a.com/m/x a.com/m/x/y"},
		{"./...", "a.com/m a.com/m/x a.com/m/x/y"},
		{".", "a.com/m"},
		{"./x", "a.com/m/x"},
		{"./x/...", "a.com/m/x a.com/m/x/y"},
		{"b.com/...", "b.com/d"},
		{"a.com/m/x/... b.com/d", "a.com/m/x a.com/m/x/y b.com/d"},
		{"-a.com/m/x", "a.com/m a.com/m/x/y"},
		{"a.com/... -./x/... a.com/m/x/y", "a.com/m a.com/m/x/y"},
		{"net/...", "net/http"},
		{"none", ""},
	} {
		match, err := matcher("/m", strings.Fields(c.patterns))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range packages {
			if match(p) {
				got = append(got, p.ImportPath)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.patterns, got, c.want)
		}
	}
	if _, err := matcher("/m", []string{"-"}); err == nil {
		t.Error("an empty pattern is none")
	}
}
