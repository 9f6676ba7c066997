package scopeview_test

import (
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the section of ARCHITECTURE.md that is made of the table mayImport")

// TestArchitectureImports compares the permitted imports in ARCHITECTURE.md with the table.
func TestArchitectureImports(t *testing.T) {
	const begin, end = "<!-- imports -->\n", "<!-- end -->"
	page := string(read(t, "ARCHITECTURE.md"))
	head, rest, ok := strings.Cut(page, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("ARCHITECTURE.md lacks %q or %q", begin, end)
	}
	want := head + begin + importLines() + end + tail
	if want == page {
		return
	}
	if !*update {
		t.Fatal("ARCHITECTURE.md does not have who may import whom as the table mayImport: go test . -run TestArchitecture -update")
	}
	if err := os.WriteFile("ARCHITECTURE.md", []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// importLines returns a line for each list of packages that some packages of the table may
// import, with these packages; those without permitted imports are on the last line.
func importLines() string {
	short := func(p string) string { return strings.TrimPrefix(p, "internal/") }
	byShort := func(a, b string) int { return strings.Compare(short(a), short(b)) }
	who := map[string][]string{}
	var lists []string // in the order of the first of those
	for _, p := range slices.SortedFunc(maps.Keys(mayImport), byShort) {
		list := ""
		for _, i := range slices.SortedFunc(slices.Values(mayImport[p]), byShort) {
			list += " " + short(i)
		}
		if who[list] == nil && list != "" {
			lists = append(lists, list)
		}
		who[list] = append(who[list], short(p))
	}
	var b strings.Builder
	b.WriteString("```\n")
	for _, list := range lists {
		b.WriteString(strings.Join(who[list], " ") + ":" + list + "\n")
	}
	b.WriteString("none of ours: " + strings.Join(who[""], " ") + "\n```\n")
	return b.String()
}

// TestArchitectureNamesFiles: the files and folders named in ARCHITECTURE.md exist, and it
// stays short.
func TestArchitectureNamesFiles(t *testing.T) {
	page := string(read(t, "ARCHITECTURE.md"))
	names := regexp.MustCompile("`((?:scope|internal|mmpool|flusher|sweeper|export|cmd|examples|bench)(?:/[A-Za-z0-9_.-]+)*)`").FindAllStringSubmatch(page, -1)
	if len(names) < 50 {
		t.Errorf("it names %d files", len(names))
	}
	for _, m := range names {
		if strings.Contains(m[1], "NAME") {
			continue
		}
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", m[1], err)
		}
	}
	for p, most := range map[string]int{"ARCHITECTURE.md": 1500, "README.md": 2200} {
		if n := len(strings.Fields(string(read(t, p)))); n > most {
			t.Errorf("%s has %d words, and should have at most %d", p, n, most)
		}
	}
}
