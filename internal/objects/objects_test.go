package objects

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
)

var (
	wanted = regexp.MustCompile(`// = (.*)$`)
	begins = regexp.MustCompile(`^func (?:\((?:\w+ )(\*?)(\w+)[^)]*\) )?(\w+)`)
)

func namer(sources *symbols.Sources) *Namer {
	return &Namer{sources: sources, system: system{"linux", "amd64"}, packages: map[string][]*waits{}}
}

// kindOf returns the kind that the recorder records for a line's call.
func kindOf(line string) format.LockKind {
	if strings.Contains(line, "Lock()") || strings.Contains(line, ".Do(") {
		return format.LockMutex
	}
	return format.LockUnknown
}

// TestNames: each line of the source with a comment has the name in it.
func TestNames(t *testing.T) {
	dir, err := filepath.Abs("testdata/nats")
	if err != nil {
		t.Fatal(err)
	}
	n := namer(&symbols.Sources{})
	asked := 0
	for _, base := range []string{"client.go", "client_test.go", "outer_test.go", "tagged.go"} {
		src := filetest.Read(t, filepath.Join(dir, base))
		function := ""
		for i, line := range strings.Split(string(src), "\n") {
			if m := begins.FindStringSubmatch(line); m != nil {
				function = m[3]
				switch {
				case m[1] != "":
					function = "(*" + m[2] + ")." + m[3]
				case m[2] != "":
					function = m[2] + "." + m[3]
				}
			}
			m := wanted.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			asked++
			want := strings.TrimSuffix(m[1], "place")
			got := n.name(&trace.Place{Kind: kindOf(line), Function: "example.com/v2/nats." + function, File: filepath.Join(dir, base), Line: i + 1})
			if got.Name != want {
				t.Errorf("%s:%d: %q, want %q", base, i+1, got.Name, want)
			}
			if got := n.name(&trace.Place{Kind: kindOf(line), Function: "example.com/v2/nats.another", File: filepath.Join(dir, base), Line: i + 1}); got.Name != "" {
				t.Errorf("%s:%d: %q in another function", base, i+1, got.Name)
			}
		}
	}
	if asked < 80 {
		t.Errorf("only %d lines say what is waited for", asked)
	}
	if n.count > 4 {
		t.Errorf("the sources were read %d times", n.count)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		function, source string
		want             bool
	}{
		{"main.f", "f", true},
		{"main.f.func1.2", "f", true},
		{"main.f-range1", "f", true},
		{"main.main.f.func2", "f", true},
		{"example.com/a%2eb.(*T).m", "(*T).m", true},
		{"example.com/a.(*T[...]).m.func1", "(*T).m", true},
		{"example.com/a.f[go.shape.[]int]", "f", true},
		{"main.g", "f", false},
		{"main.ff", "f", false},
		{"main.T.m", "(*T).m", false},
		{"", "f", false},
		{"main.f]x[", "g", false},
	} {
		if got := within(c.function, c.source); got != c.want {
			t.Errorf("within(%q, %q) is %t", c.function, c.source, got)
		}
	}
}
