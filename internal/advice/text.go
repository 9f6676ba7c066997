package advice

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
)

// WriteText writes a report in the form of GCC's Profile Mode: a line for each piece of
// advice, then its evidence. Paths are relative to dir if they lie in it.
func (r *Report) WriteText(w io.Writer, dir string) error {
	b := &strings.Builder{}
	cpu := ""
	if r.CPUNS > 0 {
		cpu = fmt.Sprintf(", %s of CPU time", show.Duration(r.CPUNS))
	}
	fmt.Fprintf(b, "# %s, %s: %s counted%s%s\n", r.Program, r.Go, show.Duration(r.Seconds*1e9), cpu, several(r.Runs, ", in %d runs; numbers are of all of them"))
	if r.Looked < 0.95 {
		fmt.Fprintf(b, "# %s of the operations were sampled: their numbers are estimates\n", show.Percent(r.Looked))
	}
	for _, n := range append(r.Notes, r.Lost...) {
		fmt.Fprintf(b, "# %s\n", n)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(b, "\n%s: %s: improvement = %d: call stack = %s: advice = %s\n", Place(f.Site, dir), f.ID, f.Improvement, callStack(f.Stack, f.Site), f.Advice)
		fmt.Fprintf(b, "    saves %s\n", f.Saves())
		if f.Stacks > 1 {
			fmt.Fprintf(b, "    %d call stacks lead here; this one gains most\n", f.Stacks)
		}
		for _, e := range f.Evidence {
			fmt.Fprintf(b, "    seen: %s\n", e)
		}
		for _, s := range f.Stoppers {
			fmt.Fprintf(b, "    but: %s\n", s)
		}
	}
	switch {
	case len(r.Findings) == 0 && len(r.Damage) > 0:
		b.WriteString("\nno advice: not all was readable, and nothing in the rest would save enough to be worth a change\n")
	case len(r.Findings) == 0:
		b.WriteString("\nno advice: nothing seen would save enough to be worth a change\n")
	}
	if r.More > 0 {
		fmt.Fprintf(b, "\n# %s: --count 0 shows all\n", show.Either(r.More, "more piece of advice", "more pieces of advice"))
	}
	if r.Hidden > 0 {
		fmt.Fprintf(b, "\n# %s left out, of objects that the standard library makes for itself: --std shows them\n", show.Either(r.Hidden, "row is", "rows are"))
	}
	if len(r.Worst) > 0 {
		head := "Highest costs without a known remedy, by the weights:"
		if r.Statistics {
			head = "Operations of each place and their cost, by the weights:"
		}
		fmt.Fprintf(b, "\n# %s\n", head)
		for _, c := range r.Worst {
			fmt.Fprintf(b, "%s: %s: %s: %s\n", Place(c.Site, dir), c.Kind, show.Duration(c.NS), c.Text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Saves describes the gain of a piece of advice in the runs.
func (f *Finding) Saves() string {
	var parts []string
	if f.NS > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s of the CPU time)", show.Duration(f.NS), show.Percent(f.Share)))
	}
	if f.NS < 0 {
		parts = append(parts, fmt.Sprintf("memory, and takes %s longer", show.Duration(-f.NS)))
	}
	if f.Bytes > 0 {
		parts = append(parts, show.Size(f.Bytes)+" of memory")
	}
	return strings.Join(parts, ", ")
}

func several(n int, text string) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(text, n)
}

// Place returns the place of a frame: "file:line", relative to dir if it lies in it.
func Place(frame, dir string) string {
	_, at, ok := strings.Cut(frame, " ")
	if !ok {
		return "the whole program"
	}
	return Relative(at, dir)
}

// Relative returns a path relative to a directory, if it lies in it.
func Relative(path, dir string) string {
	if dir != "" {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return path
}

// callStack returns the functions of a call stack from the advice's frame outward, with
// those within it.
func callStack(stack []string, site string) string {
	var names []string
	within := ""
	for i, f := range stack {
		if f == site {
			for _, inner := range stack[:i] {
				name, _, _ := strings.Cut(inner, " ")
				within += " > " + name
			}
			stack = stack[i:]
			break
		}
	}
	for _, f := range stack {
		name, at, _ := strings.Cut(f, " ")
		if name == "runtime.goexit" || name == "runtime.main" {
			continue
		}
		names = append(names, fmt.Sprintf("%s (%s)", name, filepath.Base(at)))
	}
	if within != "" && len(names) > 0 {
		names[0] += within
	}
	return strings.Join(names, " < ")
}
