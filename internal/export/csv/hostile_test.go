package csv

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestG27: whatever the names are, each record is a row, each name a cell, and no cell a
// formula.
func TestG27(t *testing.T) {
	names := tracetest.HostileNames()
	var b bytes.Buffer
	if err := Write(context.Background(), &b, tracetest.Open(t, tracetest.Hostile(t)), Options{}); err != nil {
		t.Fatal(err)
	}
	rows := parse(t, b.String())
	const kinds = 6 // kinds of records per name that have a row
	if want := 1 + kinds*len(names); len(rows) != want {
		t.Fatalf("%d rows, want %d", len(rows), want)
	}
	count := map[string]int{}
	disarmed := 0
	for _, cells := range rows[1:] {
		if len(cells) != len(rows[0]) {
			t.Fatalf("%d cells in %q", len(cells), cells)
		}
		for i, cell := range cells {
			first := strings.TrimLeftFunc(cell, func(r rune) bool { return r == ' ' || unicode.In(r, unicode.Cc, unicode.Cf) })
			if strings.IndexAny(cell, "\t\r\n") == 0 || first != "" && strings.ContainsRune("=+-@＝＋－＠", []rune(first)[0]) {
				t.Errorf("cell %d, %s, may be a formula: %q", i, rows[0][i], cell)
			}
		}
		if cells[1] != cells[2] {
			t.Errorf("the name is %q, the row %q", cells[1], cells[2])
		}
		count[cells[1]]++
	}
	for _, n := range names {
		// encoding/csv reads \r\n as \n.
		cell := strings.ReplaceAll(string([]rune(n)), "\r\n", "\n")
		if count["'"+cell] > 0 && formula(n) {
			disarmed++
			cell = "'" + cell
		}
		if count[cell] < kinds || count[cell]%kinds != 0 {
			t.Errorf("%q is in %d rows, want %d", cell, count[cell], kinds)
		}
	}
	t.Logf("G27: %d rows of %d hostile names in CSV, %d of them disarmed, 0 formulas", len(rows)-1, len(names), disarmed)
}
