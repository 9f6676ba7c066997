package report

import (
	"strings"
	"testing"
)

// TestTable: columns that are empty in all rows are left out, and a limit counts the rows left out
// if the rows have a noun.
func TestTable(t *testing.T) {
	rows := [][]string{{"a", "1,000", "", "x 5%"}, {"世界", "5", "", ""}, {"b", "6", "", ""}}
	table := func(limit int, what string) string {
		b := Text{Limit: limit}
		Grid(&b, what, []string{"<name", "count", "open", "<held by"}, rows, func(row []string) []string { return row })
		return b.String()
	}
	all := "name  count  held by\na     1,000  x 5%\n世界        5\nb         6\n"
	for _, c := range []struct {
		limit int
		what  string
		want  string
	}{
		{0, "name", all},
		{3, "name", all},
		{2, "", all},
		{1, "name", "name  count  held by\na     1,000  x 5%\n… and 2 more names (-n 0 shows all)\n"},
	} {
		if got := table(c.limit, c.what); got != c.want {
			t.Errorf("of %d %q:\n%swant\n%s", c.limit, c.what, got, c.want)
		}
	}
}

// TestCSVHeads: the column of names has the noun for a row as its head in text alone.
func TestCSVHeads(t *testing.T) {
	type row struct {
		Name string `json:"name"`
		Line int    `json:"line" unit:"line"`
	}
	table, rows := Table{Row: row{}, What: "line", Text: "name, line", CSV: "name, line"}, []row{{"f", 2}}
	var text Text
	var csv strings.Builder
	table.Write(&text, rows)
	if err := WriteCSV(&table, &csv, All(rows)); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String()+csv.String(), "line  line\nf        2\nname,line\nf,2\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestJSONLimit: a limit applies to a List, which is generated while it is written, and no element
// beyond the limit is generated.
func TestJSONLimit(t *testing.T) {
	made := 0
	doc := struct {
		Names []int     `json:"names"`
		Rows  List[int] `json:"rows"`
	}{[]int{1, 2}, ListOf([]int{1, 2, 3}, func(n int) int { made++; return n })}
	for limit, want := range map[int]string{0: "1,2,3", 2: "1,2", 5: "1,2,3"} {
		made = 0
		var b strings.Builder
		if err := WriteJSON(&b, "x", &doc, limit); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), "")
		if want := `{"schema":"scopeview.x/1","names":[1,2],"rows":[` + want + `]}`; got != want || made != strings.Count(got[strings.Index(got, "rows"):], ",")+1 {
			t.Errorf("limit %d: %s, of %d elements, want %s", limit, got, made, want)
		}
	}
}
