package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report"
)

// TestMatch checks which rows of the runs are matched by name. Runs are separated by commas, names
// by blanks, sides by |.
func TestMatch(t *testing.T) {
	for _, c := range []struct{ runs, want string }{
		{"f g | g f", "f:0+1 g:0+1"},
		{"f | g", "f:0 g:1"},
		{"main.go:88 | main.go:91", "main.go:88=main.go:91:0+1"},
		{"main.go:88 | other.go:88", "main.go:88:0 other.go:88:1"},
		{"main.go:88 main.go:90 | main.go:90 main.go:91", "main.go:88=main.go:91:0+1 main.go:90:0+1"}, // the exact one first
		{"main.go:1 main.go:2 | main.go:3", "main.go:1:0 main.go:2:0 main.go:3:1"},                    // ambiguous
		{"main.go:1 | main.go:2 main.go:3", "main.go:1:0 main.go:2:1 main.go:3:1"},
		{"mu@0xc000010 | mu@0xc000020", "mu@0xc000010=mu@0xc000020:0+1"},
		{"f1 | f2", "f1:0 f2:1"},           // a number that is not a line
		{"f f | f f f", "f:0+1 f:0+1 f:1"}, // rows with the same name are matched in order
		// With several runs a side, also where only some of them have the name, or none of the
		// other side.
		{"l:1 , l:1 | l:2 , g", "l:1=l:2:0+1+2 g:3"},
		{"at@0x1 , at@0x2 | g , g", "at@0x1=at@0x2:0+1 g:2+3"},
		{"l:1 , l:2 | l:3 , l:3", "l:1=l:2=l:3:0+1+2+3"},
		{"l:1 l:2 , l:1 | l:3 , l:3", "l:1:0+1 l:2:0 l:3:2+3"},
	} {
		var runs []Run
		na := 0
		for side, list := range strings.Split(c.runs, "|") {
			for names := range strings.SplitSeq(list, ",") {
				f := &report.Figures{}
				for name := range strings.FieldsSeq(names) {
					f.Rows = append(f.Rows, report.Row{Name: name})
				}
				runs = append(runs, Run{Figures: f})
				if side == 0 {
					na++
				}
			}
		}
		var got []string
		for _, f := range match(runs, na) {
			text, runs := "", ""
			for i, row := range f.rows {
				if row == nil {
					continue
				}
				runs += fmt.Sprintf("+%d", i)
				if !strings.HasSuffix("="+text, "="+row.Name) {
					text += "=" + row.Name
				}
			}
			got = append(got, text[1:]+":"+runs[1:])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.runs, strings.Join(got, " "), c.want)
		}
	}
}

// TestKindsStayApart: a scope and an event of one name are two rows.
func TestKindsStayApart(t *testing.T) {
	runs := []Run{
		{Figures: &report.Figures{Rows: []report.Row{{Name: "f", Kind: "scope"}}}},
		{Figures: &report.Figures{Rows: []report.Row{{Name: "f", Kind: "event"}}}},
	}
	if got := match(runs, 1); len(got) != 2 {
		t.Errorf("%d rows, want 2", len(got))
	}
}

// TestMatchInstructions: instructions are compared, by their full names, if the code of their
// function is the same in all runs that have it; otherwise only the function is compared, and a
// note says so.
func TestMatchInstructions(t *testing.T) {
	run := func(codes ...string) Run {
		f := &report.Figures{}
		for _, c := range codes { // function:code:offset
			x := strings.Split(c, ":")
			f.Rows = append(f.Rows, report.Row{Name: x[0], Kind: "function"}, report.Row{Name: x[0] + "+0x" + x[2], Kind: "instruction", Function: x[0], Code: x[1]})
		}
		return Run{Figures: f}
	}
	runs := sameCode([]Run{run("same:1:10", "moved:1:10", "other:1:10"), run("same:1:10", "moved:1:14", "other:2:10"), run("other:2:10", "alone:3:8")})
	var names []string
	for _, f := range match(runs, 1) {
		names = append(names, f.name)
	}
	if got, want := strings.Join(names, " "), "same same+0x10 moved moved+0x10 other moved+0x14 alone alone+0x8"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, r := range runs {
		if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "the code of other is not the same") {
			t.Errorf("%q", r.Notes)
		}
	}
	if runs = sameCode([]Run{run("same:1:10"), run("same:1:10")}); runs[0].Notes != nil {
		t.Errorf("%q", runs[0].Notes)
	}
}
