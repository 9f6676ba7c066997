package build

import (
	"slices"
	"testing"
)

// TestMemoryFlags: the selected packages get their own flags and the calls; others only
// their own flags.
func TestMemoryFlags(t *testing.T) {
	a := &listed{ImportPath: "example.com/a", Dir: "/src/a"}
	b := &listed{ImportPath: "example.com/b", Dir: "/src/b", DepOnly: true}
	x := &listed{ImportPath: "example.com/x", Dir: "/src/x", XTestGoFiles: []string{"x_test.go"}}
	for _, c := range []struct {
		args    []string
		goflags string
		looked  []*listed
		want    []string
	}{
		{args: []string{"-v"}, looked: []*listed{a, b}, want: []string{"-gcflags=example.com/a=-race -d=checkptr=0", "-gcflags=example.com/b=-race -d=checkptr=0", "-v"}},
		{args: []string{"-gcflags=-N", "-v"}, looked: []*listed{a, b}, want: []string{"-gcflags=-N", "-gcflags=example.com/a=-race -d=checkptr=0 -N", "-gcflags=example.com/b=-race -d=checkptr=0", "-v"}},
		{args: []string{"-gcflags", "all=-l", "-gcflags=example.com/...=-m -m"}, looked: []*listed{b}, want: []string{"-gcflags=all=-l", "-gcflags=example.com/...=-m -m", "-gcflags=example.com/b=-race -d=checkptr=0 -m -m"}},
		{args: []string{"-gcflags=std=-l"}, looked: []*listed{b}, want: []string{"-gcflags=std=-l", "-gcflags=example.com/b=-race -d=checkptr=0"}},
		{goflags: "-gcflags=all=-l", looked: []*listed{b}, want: []string{"-gcflags=all=-l", "-gcflags=example.com/b=-race -d=checkptr=0 -l"}},
		{looked: []*listed{x}, want: []string{"-gcflags=example.com/x=-race -d=checkptr=0", "-gcflags=example.com/x_test=-race -d=checkptr=0"}},
	} {
		line, err := Parse(Test, c.args)
		if err != nil {
			t.Fatal(err)
		}
		m := &maker{o: Options{Dir: "/src", Memory: true}, verb: Test, line: line, env: &environment{GOFLAGS: c.goflags}, plan: &Plan{Flags: line.Flags}}
		if err := m.memory(c.looked); err != nil {
			t.Errorf("%q: %v", c.args, err)
		}
		if !slices.Equal(m.plan.Flags, c.want) {
			t.Errorf("%q: %q, want %q", c.args, m.plan.Flags, c.want)
		}
	}
	m := &maker{line: &Line{}, env: &environment{}, plan: &Plan{}}
	if err := m.memory(nil); err == nil {
		t.Error("no package is looked at, and nothing is said")
	}
	m.line.Flags = []string{"-gcflags=all"}
	if err := m.memory([]*listed{a}); err == nil {
		t.Error("-gcflags=all has no flags, and nothing is said")
	}
}

// TestMemoryAlone: detectors have their own calls.
func TestMemoryAlone(t *testing.T) {
	for args, refused := range map[string]bool{"-v": false, "-race": true, "-msan": true, "-asan": true, "-race=false": false} {
		line, err := Parse(Build, []string{args})
		if err != nil {
			t.Fatal(err)
		}
		if err := detecting(line, "linux/amd64"); (err != nil) != refused {
			t.Errorf("%s: %v", args, err)
		}
		if err := detecting(line, "linux/riscv64"); err == nil {
			t.Error("the compiler would say that it does not support -race")
		}
	}
}
