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
	part(n.NoName, "is left out: the function's name is unknown, or the text format can't hold it")
	part(n.NoLine, "is left out: the line, or the function's first line, is unknown (for C and C++ clang -fdebug-info-for-profiling writes both into the program)")
	part(n.NoTarget, "is of calls that are left out: the caller's line is unknown")
	part(n.Scaled, "has no known caller: the calls of each such function are scaled up by its share")
	part(n.Biased, "is of calls that are left out: functions without known callers have more than a tenth of the calls of their line, which may call those (perf record -b records all callers)")
	part(n.Wrapped, "has lines before the function's first or far behind it: their offsets are modulo 65536, as in LLVM")
	if !n.Prologue && n.All > 0 {
		list = append(list, "prologue instructions are unknown: head samples are those of functions' first lines")
	}
	return append(list, saturated(n.Saturated)...)
}

func saturated(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{show.Plural(n, "count") + " are saturated at " + show.Count(uint64(math.MaxUint64))}
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
		list = append(list, "function "+name+" has changed, by its checksum, and is left out")
	}
	return append(list, saturated(m.Saturated)...)
}
