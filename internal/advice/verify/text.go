package verify

import (
	"fmt"
	"io"
	"strings"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/show"
)

// WriteText writes the result for people; report is the one that Run was given. Paths are
// relative to dir if they lie in it.
func (r *Result) WriteText(w io.Writer, report *advice.Report, dir string) error {
	var b strings.Builder
	if r.Runs > 0 {
		fmt.Fprintf(&b, "# verified in %d runs each, in turns, of %s as it is (%s of CPU time, %s) and with each change\n", r.Runs, r.Package, show.Duration(r.CPU), show.Duration(r.Wall))
	}
	for i := range r.Tries {
		t := &r.Tries[i]
		b.WriteByte('\n')
		for _, n := range t.Findings {
			_, at, _ := strings.Cut(report.Findings[n].Site, " ")
			fmt.Fprintf(&b, "%s: %s\n", advice.Relative(at, dir), report.Findings[n].ID)
		}
		for _, c := range t.Changes {
			fmt.Fprintf(&b, "    %s\n", advice.Relative(c, dir))
		}
		t.write(&b)
	}
	if r.All != nil {
		b.WriteString("\nall of these changes at once:\n")
		r.All.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *Try) write(b *strings.Builder) {
	if t.Reason != "" || t.CPU == nil {
		fmt.Fprintf(b, "    not tried: %s\n", t.Reason)
		return
	}
	memory := ""
	if t.Bytes > 0 {
		memory = ", and " + show.Size(t.Bytes) + " of memory, which is not measured"
	}
	fmt.Fprintf(b, "    estimated: %s less%s\n    CPU time:  %s\n    wall time: %s\n", show.Duration(t.Estimate), memory, t.CPU, t.Wall)
	switch t.Output {
	case runs.Differ:
		b.WriteString("    but: the program's output changes\n")
	case runs.Varies:
		b.WriteString("    the output varies from run to run, so it can't be compared\n")
	}
}

// String describes the saving.
func (s *Saved) String() string {
	switch {
	case s.Low > 0:
		return fmt.Sprintf("%s less (%s to %s, %s)", show.Duration(s.NS), show.Duration(s.Low), show.Duration(s.High), show.Percent(s.Confidence))
	case s.High < 0:
		return fmt.Sprintf("%s more (%s to %s, %s)", show.Duration(-s.NS), show.Duration(-s.High), show.Duration(-s.Low), show.Percent(s.Confidence))
	}
	return fmt.Sprintf("no difference: %s to %s less (%s)", show.Duration(s.Low), show.Duration(s.High), show.Percent(s.Confidence))
}
