package pack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestDocs checks that docs/packed.md has the table of columns.
func TestDocs(t *testing.T) {
	b := filetest.Read(t, "../../docs/packed.md")
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
