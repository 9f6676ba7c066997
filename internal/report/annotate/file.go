package annotate

import (
	"context"
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/callgraph"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// file is a source file with the costs and the remarks of its lines.
type file struct {
	name    string   // as the compiler recorded it
	path    string   // here; "": not found
	lines   []string // nil: not found
	extents []extent
	remarks map[int][]symbols.Remark
	calls   map[int][]string // remarks about hot calls, by line
	costs   map[int]profile.Costs
}

// read reads a source file. If that fails, the file has no lines.
func (c *Code) read(name string) (f *file, err error) {
	f = &file{name: name}
	f.lines, f.path, err = c.Sources.Read(name)
	f.extents = extents(f.lines)
	return f, err
}

// comment reads the compiler's remarks on a file, if they are wanted, and those on hot calls.
func (c *Code) comment(ctx context.Context, f *file, calls []HotCall) (problem string) {
	f.calls = hotLines(calls, f.name)
	if !c.Remarks {
		return ""
	}
	if f.path == "" {
		return "no compiler remarks: the compiled source is not on this machine; --path-map OLD=NEW names its directory"
	}
	list, err := symbols.Remarks(ctx, f.path)
	if err != nil {
		return err.Error()
	}
	f.remarks = map[int][]symbols.Remark{}
	for _, r := range list {
		f.remarks[r.Line] = append(f.remarks[r.Line], r)
	}
	return ""
}

// lineCosts returns the costs of a file's lines, wherever they were inlined; line 0 holds the costs
// without a line. If the samples are from several executables, it counts only this one's.
func (c *Code) lineCosts(v *profile.View, file string) map[int]profile.Costs {
	const elsewhere = -1
	costs := map[int]profile.Costs{}
	for n, cost := range callgraph.Sum(v.Profile, func(f *symbols.Frame) int {
		if f.File == file && (!c.apart || f.Object == c.object) {
			return f.Line
		}
		return elsewhere
	}) {
		if n != elsewhere {
			costs[n] = v.Costs(cost)
		}
	}
	return costs
}

// comments returns the remarks on a line: the compiler's, with the line's price, and those on hot
// calls.
func (f *file) comments(v *profile.View, line int) (list []string) {
	for _, r := range f.remarks[line] {
		text := show.Name(r.Text)
		if p := price(v, r.Kind, f.costs[line]); p != "" {
			text += ": " + p
		}
		list = append(list, text)
	}
	return append(list, f.calls[line]...)
}

// price formats the cost of a line that the compiler remarks on: allocated bytes, if there is such
// a metric and the remark is about the heap; otherwise the first column.
func price(v *profile.View, kind symbols.RemarkKind, line profile.Costs) string {
	if !line.InData() || len(v.Columns) == 0 || kind == symbols.CanInline || kind == symbols.Leaks {
		return ""
	}
	m := v.Columns[0].Metric
	if kind == symbols.Escapes {
		for _, name := range []string{"alloc_space", "alloc-bytes"} {
			if i := v.Metric(name); i >= 0 {
				m = i
			}
		}
	}
	all := v.Whole(m)
	own := line.Exclusive.Of(m)
	if kind == symbols.CannotInline {
		own = line.Inclusive.Of(m)
	}
	if all == 0 || own == 0 {
		return ""
	}
	return fmt.Sprintf("%s of all %s", show.Percent(float64(own)/float64(all)), v.Metrics[m].Name)
}

// widest is the number of bytes of a line that are shown: some generated lines have a megabyte.
const widest = 400

// clean returns a line of source without tabs, and safe to show.
func clean(line string) string {
	line = strings.ReplaceAll(line, "\t", "    ")
	if len(line) > widest {
		line = line[:widest] + "…"
	}
	return show.Text(strings.ToValidUTF8(line, "?"))
}

// commentLine returns a comment with the indentation of the line below it.
func commentLine(line, comment string) string {
	return line[:len(line)-len(strings.TrimLeft(line, " "))] + "// " + comment
}
