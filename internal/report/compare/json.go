package compare

import (
	"github.com/scopeview/scopeview/internal/report"
)

// document is the document of compare --json. Keys may be added; none changes its meaning or is
// removed. null is unknown.
type document struct {
	View    string                  `json:"view" says:"'top', 'waits', 'states', 'functions', 'doctor'"`
	Sort    string                  `json:"sort" says:"the column that rows are sorted by"`
	A       []side                  `json:"a"`
	B       []side                  `json:"b"`
	Columns []header                `json:"columns"`
	Rows    report.List[comparison] `json:"rows"`     // the largest change first
	OneSide report.List[comparison] `json:"one_side"` // that only one side has
}

type side struct {
	Path string `json:"path" says:"of each run of side A"`
	report.Kept
	Length int64    `json:"length_ns" unit:"ns" says:"of the recording, or of the selected part; of a ring, the part that it still has"`
	Notes  []string `json:"notes" says:"limits of the rows"`
}

type header struct {
	Name  string `json:"name" says:"key of 'rows[].columns'"`
	Unit  string `json:"unit" says:"'ns', 'count', '0 to 1', 'ratio'; with '/s': per second of recording"`
	Worse bool   `json:"more_is_worse"`
	Grows bool   `json:"grows" says:"with the length of the recording: if lengths differ, look at the same column with '/s'"`
}

type comparison struct {
	Name    string            `json:"name" says:"the largest change first"`
	NameB   string            `json:"name_b,omitempty" says:"on side B, if it differs: a line number, an address"`
	Kind    string            `json:"kind" says:"the kind: 'scope', 'event', 'lock', a state, 'function', 'finding', …"`
	RunsA   int               `json:"runs_a" unit:"runs" says:"that have it"`
	RunsB   int               `json:"runs_b" unit:"runs"`
	Columns map[string]values `json:"columns"`
}

type values struct {
	A          *float64 `json:"a" unit:"the column's" says:"on side A"`
	B          *float64 `json:"b" unit:"the column's" says:"on side B"`
	Difference *float64 `json:"difference" unit:"the column's" says:"'b' − 'a'"`
	Ratio      *float64 `json:"ratio" unit:"ratio" says:"'b' / 'a'; null where 'a' is 0"`
	Low        *float64 `json:"low" unit:"the column's"` // of the difference; null: there is no interval
	High       *float64 `json:"high" unit:"the column's" says:"of the interval of the difference"`
	Confidence *float64 `json:"confidence" unit:"0 to 1" says:"of the interval; null: there is none"`
	Differs    bool     `json:"differs" says:"the sides differ; with several runs a side, by more than chance explains"`
	Lengths    bool     `json:"lengths_alone,omitempty" says:"the lengths of the recordings alone explain the difference"`
}

func (r *Result) document() *document {
	d := &document{
		View: r.view, Sort: r.columns[r.sort].Name, A: sidesOf(r.a), B: sidesOf(r.b),
		Rows: report.ListOf(r.rows, r.comparison), OneSide: report.ListOf(r.oneSide, r.comparison),
	}
	for _, c := range r.columns {
		d.Columns = append(d.Columns, header{c.Name, string(c.Unit), c.Worse, c.Grows})
	}
	return d
}

func sidesOf(runs []Run) (list []side) {
	for _, x := range runs {
		s := side{Path: x.path, Length: x.length, Notes: append([]string{}, x.Notes...), Kept: report.Kept{Lost: map[string]int64{}}}
		if x.trace != nil {
			s.Kept = report.KeptOf(x.trace)
		}
		list = append(list, s)
	}
	return list
}

func (r *Result) comparison(x *row) comparison {
	j := comparison{Name: x.name, NameB: x.nameB, Kind: x.kind, RunsA: x.runs[0], RunsB: x.runs[1], Columns: map[string]values{}}
	for k := range x.cells {
		c := &x.cells[k]
		v := values{A: known(middle(c.a)), B: known(middle(c.b)), Difference: known(c.difference()), Differs: c.differs(), Lengths: c.lengths}
		if q, ok := c.ratio(); ok {
			v.Ratio = &q
		}
		if c.confidence > 0 {
			v.Low, v.High, v.Confidence = &c.low, &c.high, &c.confidence
		}
		j.Columns[r.columns[k].Name] = v
	}
	return j
}

// known returns a pointer to v, or nil if v is unknown.
func known(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}
