package tables

import (
	"os"
	"strings"
	"testing"
)

// TestDocumented: docs/fleet.md lists each table with its columns, and no others.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range All {
		if table.Columns[0] != start {
			t.Errorf("%s does not begin with start_time", table.Name)
		}
		_, line, ok := strings.Cut(string(doc), "\n| `"+table.Name+"` |")
		line, _, _ = strings.Cut(line, "\n")
		if !ok {
			t.Errorf("docs/fleet.md does not list %s", table.Name)
		}
		listed := 0
		for _, c := range table.Columns {
			if strings.Contains(line, "`"+c.Name+"`") {
				listed++
			} else if !strings.Contains("start_time build pod weight", c.Name) {
				t.Errorf("docs/fleet.md does not list %s of %s", c.Name, table.Name)
			}
		}
		if n := strings.Count(line, "`") / 2; n != listed {
			t.Errorf("docs/fleet.md lists %d columns of %s, which has %d of them", n, table.Name, listed)
		}
	}
}
