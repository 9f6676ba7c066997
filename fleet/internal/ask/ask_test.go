package ask

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/fleet/internal/tables"
)

// filled returns the SQL of a saved question with some value for what it requires.
func filled(t *testing.T, q *Question) string {
	t.Helper()
	set := map[string]string{}
	for _, p := range q.Params {
		if p.Required {
			set[p.Name] = "it's"
		}
	}
	sql, err := q.Fill(set)
	if err != nil {
		t.Fatal(err)
	}
	return sql
}

// TestSaved: each saved question has a description, uses all its parameters, and is
// completed by scopeview.
func TestSaved(t *testing.T) {
	tool, err := os.ReadFile("../../../cmd/scopeview/sql.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range Saved() {
		if q.About == "" || len(Needs(q.SQL)) == 0 || !strings.Contains(string(tool), `"`+q.Name+`"`) {
			t.Errorf("%s: %q, %v", q.Name, q.About, Needs(q.SQL))
		}
		_, body := q.split()
		for _, p := range q.Params {
			if !strings.Contains(body, "$"+p.Name) {
				t.Errorf("%s does not use %s", q.Name, p.Name)
			}
		}
		if sql := filled(t, &q); strings.Contains(sql, "$") {
			t.Errorf("%s: %s", q.Name, sql)
		}
	}
}

// TestLiterals: a value is a literal or an error, whatever it holds.
func TestLiterals(t *testing.T) {
	for _, c := range []struct{ typ, value, want string }{
		{"text", "a", "'a'"}, {"text", "", "''"}, {"text", "it's; drop -- $q", "'it''s; drop -- $q'"}, {"text", `\`, `'\'`},
		{"text", "a\nb", ""}, {"text", "\x00", ""}, {"text", "\xff", ""}, {"text", strings.Repeat("x", mostText+1), ""},
		{"number", "0.99", "9.9e-01"}, {"number", "-1e3", "-1e+03"}, {"number", "Inf", ""}, {"number", "0x", ""}, {"number", "1 or 1", ""},
		{"integer", "7", "7"}, {"integer", "-7", ""}, {"integer", "7.5", ""}, {"integer", "99999999999999999999", ""},
	} {
		p := Param{Name: "p", Type: c.typ}
		got, err := p.literal(c.value)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %q: %s, %v", c.typ, c.value, got, err)
		}
	}
}

// TestParse: what declares no parameter properly is refused.
func TestParse(t *testing.T) {
	q, err := Parse("x", "-- What it is.\n-- More.\n-- param least integer 0 at least\n\nselect $least, $1, '$other'")
	if err != nil || q.About != "What it is." || len(q.Params) != 1 {
		t.Errorf("%+v, %v", q, err)
	}
	if sql, err := q.Fill(map[string]string{"least": "5"}); sql != "select 5, $1, '$other'" || err != nil {
		t.Errorf("%q, %v", sql, err)
	}
	for _, text := range []string{"-- param x", "-- param x blob 1 y\nselect 1", "\xff", strings.Repeat(" ", mostSQL+1)} {
		if _, err := Parse("x", text); err == nil {
			t.Errorf("%.40q was taken", text)
		}
	}
}

// TestTrino holds the questions and the tables' definitions against a grammar of Trino: Trino
// itself is not here.
func TestTrino(t *testing.T) {
	const parser = "../../../uitest/node_modules/dt-sql-parser"
	if _, err := os.Stat(parser); err != nil {
		t.Skip("dt-sql-parser from npm is not here; make deps installs it")
	}
	path, err := filepath.Abs(parser)
	if err != nil {
		t.Fatal(err)
	}
	check := func(sql string) string {
		cmd := exec.Command("node", "testdata/trino/check.mjs", path)
		cmd.Stdin = strings.NewReader(sql)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	all := Trino(tables.All, "s3://it's/fleet/")
	for _, q := range Saved() {
		all += filled(t, &q) + ";\n"
	}
	if out := check(all); out != "" {
		t.Errorf("%s", out)
	}
	if check("select from where") == "" {
		t.Error("the check finds nothing wrong in nonsense")
	}
}

// FuzzParse: whatever a file of SQL holds, nothing panics, and a text's value can't get out of
// its literal.
func FuzzParse(f *testing.F) {
	f.Add("-- a\n-- param a text x y\nselect $a", "it's")
	f.Add("-- param", "\x00")
	f.Fuzz(func(t *testing.T, text, value string) {
		q, err := Parse("x", text)
		if err != nil {
			return
		}
		set := map[string]string{}
		for _, p := range q.Params {
			set[p.Name] = value
		}
		_, _ = q.Fill(set)
		p := Param{Name: "p", Type: "text"}
		if lit, err := p.literal(value); err == nil && strings.Contains(strings.ReplaceAll(lit[1:len(lit)-1], "''", ""), "'") {
			t.Errorf("%q", lit)
		}
	})
}
