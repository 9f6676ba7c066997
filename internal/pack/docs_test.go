package pack

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs checks that docs/packed.md has the table of columns.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../../docs/packed.md")
	if err != nil {
		t.Fatal(err)
	}
	for c := range colArg + 1 {
		x := table[c]
		expect := x.expect
		if x.how == plain {
			expect = "–"
		}
		if row := fmt.Sprintf("\n| %d | %s | %s |\n", c, x.what, expect); !strings.Contains(string(b), row) {
			t.Errorf("docs/packed.md has no row %s", row)
		}
	}
}
