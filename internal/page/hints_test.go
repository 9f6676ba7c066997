package page

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/scopeview/scopeview/internal/report/top"
)

// hintsFile has the sentences about the columns of reports, for the page's tables.
const hintsFile = "../../export/html/assets/panel/hints.js"

// TestHints: a column's head and the sentence about it are those of the report's row.
func TestHints(t *testing.T) {
	hints, err := json.MarshalIndent(top.Hints(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want := "// Sentences about the columns of the tables of `scopeview top`, by head. TestHints in internal/page writes this file.\n\n" +
		"/** @type {Record<string, Record<string, string>>} */\nexport const reportHints = " + string(hints) + ";\n"
	if *update {
		if err := os.WriteFile(hintsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(hintsFile); err != nil || string(got) != want {
		t.Errorf("%s is not what it would be now: go test ./internal/page -run TestHints -update (%v)", hintsFile, err)
	}
}
