package source

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/long"
)

// TestCallsAreTheCompilers compares the calls that Load finds with those in the compiler's
// output: by the caller's name, the line, and whether the call is direct.
func TestCallsAreTheCompilers(t *testing.T) {
	pkgs := []string{"encoding/json", "regexp/syntax", "maps", "slices", "iter"}
	if long.All() {
		pkgs = append(pkgs, "text/template", "internal/trace", "encoding/gob", "go/parser")
	}
	var list []string
	for _, p := range pkgs {
		list = append(list, p+".F")
	}
	s, err := Load(context.Background(), Config{Patterns: pkgs, Names: list})
	if err != nil {
		t.Fatal(err)
	}
	h := &history{t: t}
	for _, pkg := range pkgs {
		u := s.pkgs[pkg]
		if u.err != nil {
			t.Errorf("%s: %v", pkg, u.err)
			continue
		}
		c, err := h.compile(u, otherProgram(t))
		if err != nil {
			t.Fatal(err)
		}
		skip := unlike(t, u, c)
		ours, theirs := map[string]bool{}, map[string]bool{}
		for caller, stats := range c.stats {
			if strings.Contains(caller, "[") || wrapperEnd.MatchString(caller) || caller == pkg+".init" || strings.HasPrefix(caller, "type..") {
				continue
			}
			for _, st := range stats {
				if at := lineOf(caller, st.line); !skip[at] {
					theirs[fmt.Sprintf("%s direct %v", at, st.Direct)] = true
				}
			}
		}
		for _, f := range u.funcs {
			for _, call := range f.calls {
				if at := lineOf(f.name, f.start+call.offset); !skip[at] && !strings.Contains(f.name, "[") {
					ours[fmt.Sprintf("%s direct %v", at, call.kind == direct)] = true
				}
			}
		}
		if len(theirs) == 0 && len(ours) > 0 {
			t.Errorf("%s: the compiler printed no call", pkg)
		}
		for _, k := range slices.Sorted(maps.Keys(theirs)) {
			if !ours[k] {
				t.Errorf("%s: only the compiler has %s", pkg, k)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(ours)) {
			if !theirs[k] {

				t.Errorf("%s: only Load has %s", pkg, k)
			}
		}
	}
}

func lineOf(caller string, line int) string { return fmt.Sprintf("%s line %d", caller, line) }

// unlike returns the lines where the compiler has other calls than the source: wrappers of
// deferred calls, first calls of goroutines, checks of loops over functions.
func unlike(t *testing.T, u *unit, c *compiled) map[string]bool {
	skip := map[string]bool{}
	for caller, stats := range c.stats {
		for _, st := range stats {
			if wrapperEnd.MatchString(st.Hottest) || strings.HasSuffix(st.Hottest, "panicrangestate") || goes.MatchString(line(t, st.Pos)) {
				skip[lineOf(caller, st.line)] = true
			}
		}
	}
	for _, f := range u.funcs {
		for _, call := range f.calls {
			if call.deferred {
				skip[lineOf(f.name, f.start+call.offset)] = true
			}
		}
	}
	return skip
}

// goes matches a line with a goroutine's first call.
var goes = regexp.MustCompile(`^\s*(go |}\()`)

var sources = map[string][]string{}

// line returns the line of the source for a position of the compiler.
func line(t *testing.T, pos string) string {
	m := position.FindStringSubmatch(pos)
	if m == nil {
		return ""
	}
	name := strings.TrimSuffix(pos, m[0])
	if sources[name] == nil {
		data := filetest.Read(t, name)
		sources[name] = strings.Split(string(data), "\n")
	}
	n, _ := strconv.Atoi(m[1]) // the pattern has digits
	return sources[name][n-1]
}
