package profile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// TestRowsOfMetricsThatAreNotShown: the text has the rows with a value in a shown column; the
// document and the CSV, which have all metrics, append the rows of other metrics, and leave out
// rows without any value.
func TestRowsOfMetricsThatAreNotShown(t *testing.T) {
	p := made()
	p.Stacks = append(p.Stacks, samples.Stack{Frames: []*symbols.Frame{{Func: "main.idle", File: "/m/main.go", Line: 30}}, Values: []int64{0, 0, 0}, Labels: samples.Labels{Goid: 3}})
	const hot, mid, top, poll, read = "example.com/x.hot", "example.com/x.mid", "main.main", "internal/poll.runtime_pollWait", "net.(*conn).Read"
	for _, c := range []struct {
		by                 *Kind
		columns, functions string
		text, all          []string // names: those of a metric that is shown come first
	}{
		{Functions, "e.cpu:i.cpu", "", []string{hot, mid, top}, []string{hot, mid, top, poll, read}},
		{Functions, "e.cpu", "", []string{hot}, []string{hot, mid, poll, top, read}},
		{Functions, "i.network", "", []string{poll, read, top}, []string{poll, read, top, hot, mid}},
		{Functions, "e.cpu:i.cpu", "net.*", nil, []string{read}},
		{Lines, "e.cpu:i.cpu", "", []string{hot, mid, top}, []string{hot, mid, top, poll, read}},
		{Tracks, "e.network", "", []string{""}, []string{"", "worker"}},
	} {
		r := c.by.Of(viewOf(t, p, c.columns, c.functions))
		var doc struct {
			Rows []struct {
				Name                 string
				Exclusive, Inclusive map[string]int64
			}
		}
		var b bytes.Buffer
		err := report.WriteJSON(&b, "functions", r.Document, 0)
		if err == nil {
			err = json.Unmarshal(b.Bytes(), &doc)
		}
		var table bytes.Buffer
		if err == nil {
			err = r.CSV(&table)
		}
		lines, e := csv.NewReader(&table).ReadAll()
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		var inDoc, inCSV []string
		for _, row := range doc.Rows {
			inDoc = append(inDoc, row.Name)
			if len(row.Exclusive)+len(row.Inclusive) == 0 {
				t.Errorf("%s %s: %s has nothing", c.by.By, c.columns, row.Name)
			}
		}
		for _, line := range lines[1:] {
			inCSV = append(inCSV, line[0])
		}
		for form, got := range map[string][]string{"document": inDoc, "CSV": inCSV} {
			first := len(c.text)
			if !slices.Equal(sorted(got), sorted(c.all)) || len(got) > first && !slices.Equal(sorted(got[:first]), sorted(c.text)) {
				t.Errorf("%s %s %s, %s: %q, want %q", c.by.By, c.columns, c.functions, form, got, c.all)
			}
		}
		text := strings.Join(textOf(r, 0), "")
		for _, name := range c.all {
			if shown := slices.Contains(c.text, name); name != "" && strings.Contains(text, name) != shown {
				t.Errorf("%s %s: the text has %s: %v\n%s", c.by.By, c.columns, name, !shown, text)
			}
		}
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
