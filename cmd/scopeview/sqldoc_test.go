package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/query"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestSQLTables: docs/sql.md lists the tables and columns that there are.
func TestSQLTables(t *testing.T) {
	const path, head = "../../docs/sql.md", "\n## Tables\n"
	text := string(filetest.Read(t, path))
	before, _, found := strings.Cut(text, head)
	if !found {
		t.Fatal("docs/sql.md has no section Tables")
	}
	var b strings.Builder
	b.WriteString(before + head)
	cell := strings.NewReplacer("|", "\\|", "args ->> '0'", "`args ->> '0'`").Replace
	known := map[query.Column]bool{}
	for _, table := range query.Tables() {
		fmt.Fprintf(&b, "\n**%s**: %s.", table.Name, table.Says)
		var same []string
		rows := ""
		for _, c := range table.Columns {
			if c.Says == "" || known[c] {
				same = append(same, "`"+c.Name+"`")
				continue
			}
			known[c] = true
			rows += fmt.Sprintf("| `%s` | %s | %s |\n", c.Name, strings.ToLower(c.Type), cell(c.Says))
		}
		if same != nil {
			b.WriteString(" Columns: " + strings.Join(same, ", "))
			if rows != "" {
				b.WriteString(", and")
			}
		}
		b.WriteString("\n")
		if rows != "" {
			b.WriteString("\n| column | type | |\n|---|---|---|\n" + rows)
		}
	}
	if b.String() == text {
		return
	}
	if !*update {
		t.Fatal("docs/sql.md does not list the tables that there are: go test ./cmd/scopeview -run TestSQLTables -update")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
