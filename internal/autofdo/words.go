package autofdo

import (
	"math"
	"strconv"

	"github.com/scopeview/scopeview/internal/show"
)

// In formats the warning for users, with the name of the file.
func (w Warning) In(file string) string {
	if w.Line == 0 {
		return file + ": " + w.Text
	}
	return file + ":" + strconv.Itoa(w.Line) + ": " + w.Text
}

// Sentences returns sentences on what a conversion could not represent.
func (n *Notes) Sentences() (list []string) {
	part := func(weight int64, text string) {
		if weight > 0 {
			list = append(list, show.Percent(float64(weight)/float64(n.All))+" of the weight "+text)
		}
	}
	part(n.NoName, "is left out: the function's name is not known, or the text format can't hold it")
	part(n.NoLine, "is left out: the line, or the function's first line, is not known (for C and C++ clang -fdebug-info-for-profiling writes both into the program)")
	part(n.NoTarget, "is of calls that are left out: the caller's line is not known")
	part(n.Scaled, "has no caller that is known: the calls of those functions are scaled up by it, each function's by its own")
	part(n.Biased, "is of calls that are left out: functions none of whose callers are known have more than a tenth of what their line calls, so it may call those (perf record -b knows all callers)")
	part(n.Wrapped, "has lines before the function's first or far behind it: their offsets are modulo 65536, as LLVM has them")
	if !n.Prologue && n.All > 0 {
		list = append(list, "which instructions are of prologues is not known: head samples are those of functions' first lines")
	}
	return append(list, saturated(n.Saturated)...)
}

func saturated(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{show.Plural(n, "count") + " have no room for more and are " + show.Count(uint64(math.MaxUint64))}
}

// mostNamed limits how many functions are named.
const mostNamed = 10

// Sentences returns sentences on what a merge could not keep.
func (m *Merged) Sentences() (list []string) {
	for i, name := range m.Dropped {
		if i == mostNamed {
			list = append(list, "… and "+show.Plural(len(m.Dropped)-mostNamed, "more function")+" of other code")
			break
		}
		list = append(list, "function "+name+" has other code than before, by its checksum, and is left out")
	}
	return append(list, saturated(m.Saturated)...)
}
