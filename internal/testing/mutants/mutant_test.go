//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const source = `package p

func f(a int) int {
	if a < 7 {
		a++
	}
	return a
}
`

// found returns the mutants of the source, by the text that each changes and its replacement.
func found(t *testing.T) map[string]mutant {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.go")
	filetest.Write(t, path, []byte(source))
	all, err := mutantsIn("p", path)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]mutant{}
	for _, m := range all {
		by[strings.Join(strings.Fields(m.old), " ")+" -> "+m.new] = m
	}
	return by
}

// TestPlant: several mutants of a file are all planted, and nothing else changes.
func TestPlant(t *testing.T) {
	by := found(t)
	group := []mutant{by["< -> <="], by["++ -> --"], by["7 -> 8"]}
	overlay, err := plant(t.TempDir(), group)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Replace map[string]string }
	if err := json.Unmarshal(filetest.Read(t, overlay), &list); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("<", "<=", "++", "--", "7", "8").Replace(source)
	if got := string(filetest.Read(t, list.Replace[group[0].path])); len(list.Replace) != 1 || got != want {
		t.Errorf("%q: %s\nwant\n%s", list.Replace, got, want)
	}
}

// TestGroups: a lane takes mutants together unless one is within another, they are of different
// packages and it is a package's lane, or it takes each alone.
func TestGroups(t *testing.T) {
	by := found(t)
	condition, less, inc := by["a < 7 -> !(a < 7)"], by["< -> <="], by["++ -> --"]
	elsewhere := inc
	elsewhere.pkg, elsewhere.path = "q", "elsewhere.go"
	for _, c := range []struct {
		lane lane
		want []int // sizes
	}{
		{lane{command: "go test ./..."}, []int{3, 1}},
		{lane{command: "go test NEAR"}, []int{2, 1, 1}},
		{lane{command: "go test ./...", alone: true}, []int{1, 1, 1, 1}},
	} {
		var sizes []int
		for _, group := range c.lane.groups([]mutant{condition, less, inc, elsewhere}) {
			sizes = append(sizes, len(group))
		}
		if !slices.Equal(sizes, c.want) {
			t.Errorf("%+v: groups of %v, want %v", c.lane, sizes, c.want)
		}
	}
}
