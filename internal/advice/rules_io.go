package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var ioRules = []Rule{
	{ID: "small-io", Group: InputOutput, Kinds: []row.Kind{row.Input, row.Output}, Judge: smallIO},
}

// bufferSize is bufio's default buffer size, and bufferCall the time of a buffered call, in
// ns.
const (
	bufferSize = 4096
	bufferCall = 10
)

// smallIO: many successive small reads or writes of one file are as many system calls. Those
// of bufio are small for another reason: no more data, or a Flush.
func smallIO(r *Row, _ Weights) (j Judgement) {
	calls, size := r.V(row.Small), r.V(row.SmallBytes)
	if calls < r.V(row.Made)/2 || calls < 2 || r.through("bufio.(") {
		return j
	}
	left := size / bufferSize
	saved := calls - left
	j.NS = r.V(row.NS)*saved/calls - calls*bufferCall
	j.Ops = saved
	what, with, then := "read", "bufio.NewReader", ""
	if r.Kind == row.Output {
		what, with, then = "write", "bufio.NewWriter", ", with a Flush at the end,"
		j.Stoppers = []string{"output becomes visible later, and unflushed output is lost if the program dies"}
		if r.through("log.", "log/slog.") {
			j.Stoppers = append(j.Stoppers, "it is a log, whose last lines matter most in that case")
		}
	}
	j.Advice = fmt.Sprintf("%s around it%s saves %s of %s: %s follow one another on one file", with, then, show.Count(saved), show.Plural(calls, "system call"), "small "+what+"s")
	j.Evidence = []string{
		fmt.Sprintf("%s, of %s bytes (p50 %s, p99 %s)", show.Plural(r.V(row.Made), what), show.Between(r.Stats.V[row.MinLen], r.Stats.V[row.MaxLen]), show.Count(r.P(row.Len, 0.5)), show.Count(r.P(row.Len, 0.99))),
		fmt.Sprintf("a system call took %s", show.Duration(r.V(row.NS)/calls)),
	}
	return j
}
