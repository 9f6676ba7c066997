package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// recorder describes how records were made, and why not in a faster way.
func (r *Report) recorder(l *facts) {
	if madeFromGoTrace(r.Trace) {
		return
	}
	h := r.Trace.Header()
	if v := r.info("scopeview"); v != "" {
		l.add("recorder", fmt.Sprintf("scopeview %s, format %d.%d", v, h.Major, h.Minor))
	} else {
		l.add("recorder", fmt.Sprintf("format %d.%d", h.Major, h.Minor))
	}
	l.add("path", r.because(inWords(h.Path, map[format.Path]string{
		format.PathAssembly: "assembly, the fastest",
		format.PathGo:       "Go, slower than assembly",
		format.PathPure:     "pure Go, the slowest",
	}), "path_reason"))
	l.add("backing", r.because(inWords(h.Backing, map[format.Backing]string{
		format.BackingDisk: "disk: pages of the trace file itself",
		format.BackingHeap: "heap, copied to the file each round: a kill loses what came after the last one",
		format.BackingShm:  "shm: memory that outlives the program, copied to the file each round",
	}), "backing_reason"))
	if line := CoolLine(r.Trace); line != "" {
		l.loud("hot part", line, Odd)
	} else if r.Trace.State().Joined {
		l.add("hot part", "joined: what was in memory is here too")
	}
	l.add("clock", r.because(inWords(h.Clock, map[format.Clock]string{
		format.ClockTSC:       "the processor's time-stamp counter",
		format.ClockMonotonic: "the system's monotonic clock",
	}), "clock_reason"))
	l.add("witnesses", r.because(witnesses(h.Witness), "witness_reason"))
	l.add("filter", r.info("filter"))
}

// CoolLine reports that a trace lacks its hot part; it is empty otherwise.
func CoolLine(t *trace.Trace) string {
	if !t.LacksHotPart() {
		return ""
	}
	return "records since the last round (a second) may be missing: they were in memory, in " + format.HotName(t.Header().ID) + ", which is not here"
}

// inWords returns the words for v; a value without words, as of a later version, has its own
// name.
func inWords[T interface {
	comparable
	fmt.Stringer
}](v T, words map[T]string) string {
	if text, ok := words[v]; ok {
		return text
	}
	return v.String()
}

func witnesses(bits uint32) string {
	if bits&(format.WitnessGoid|format.WitnessYield|format.WitnessSwitch) == format.WitnessGoid|format.WitnessYield|format.WitnessSwitch {
		return "goroutine, yields and thread switches are seen: CPU time per scope is known"
	}
	var missing []string
	for _, x := range []struct {
		bit  uint32
		text string
	}{
		{format.WitnessGoid, "goroutine ids"}, {format.WitnessYield, "whether a goroutine yielded"},
		{format.WitnessSwitch, "whether a thread was switched out"},
	} {
		if bits&x.bit == 0 {
			missing = append(missing, x.text)
		}
	}
	text := "unknown: " + strings.Join(missing, ", ")
	if bits&format.WitnessYield == 0 || bits&format.WitnessSwitch == 0 {
		text += "; so is the CPU time of scopes"
	}
	return text
}
