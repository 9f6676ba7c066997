package page

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/top"
)

// hintsFile has the sentences about the columns of reports, for the page's tables.
const hintsFile = "../../export/html/assets/panel/hints.js"

// TestHints: a column's head and the sentence about it are those of the report's row.
func TestHints(t *testing.T) {
	var b strings.Builder
	b.WriteString("// The columns of the tables of `scopeview top` and `scopeview advise`: sentences by head. TestHints in internal/page writes this file.\n\n" +
		"/** @type {Record<string, Record<string, string>>} */\nexport const reportHints = {\n")
	add := func(table string, hints []report.Hint) {
		fmt.Fprintf(&b, "  %s: {\n", table)
		for _, h := range hints {
			fmt.Fprintf(&b, "    %q: %q,\n", h.Head, h.Says)
		}
		b.WriteString("  },\n")
	}
	scopes, locks := top.Hints()
	add("scopes", scopes)
	add("locks", locks)
	advised, worst := report.Table{Row: advice.Finding{}, Text: "place, improvement, saves, %, memory, diagnostic, advice"}, report.Table{Row: advice.Characteristic{}, Text: "place, costs, kind, what"}
	add("advice", advised.Hints())
	add("costs", worst.Hints())
	b.WriteString("};\n")
	if *update {
		if err := os.WriteFile(hintsFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(hintsFile); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what it would be now: go test ./internal/page -run TestHints -update (%v)", hintsFile, err)
	}
}
