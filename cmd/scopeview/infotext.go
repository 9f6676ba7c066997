package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
)

// text writes the report for people.
func (r *report) text(w io.Writer, s styles) error {
	l := &lines{styles: s}
	r.kept(l)
	r.process(l)
	r.recorder(l)
	r.records(l)
	r.oddities(l)
	_, err := io.WriteString(w, l.b.String())
	return err
}

// lines are labels with their texts.
type lines struct {
	styles
	b strings.Builder
}

func (l *lines) add(label, text string) {
	if text != "" {
		fmt.Fprintf(&l.b, "%s  %s\n", l.bold(fmt.Sprintf("%-14s", label)), text)
	}
}

// join puts commas between the texts that are not empty.
func join(texts ...string) string {
	kept := texts[:0:0]
	for _, t := range texts {
		if t != "" {
			kept = append(kept, t)
		}
	}
	return strings.Join(kept, ", ")
}

// info is a fact of the trace, safe to show; "" if it is not known.
func (r *report) info(key string) string {
	if v := r.t.Lookup(key); v != "" {
		return show(v)
	}
	return ""
}

// kept tells what the trace is and whether all of it is there.
func (r *report) kept(l *lines) {
	l.add("trace", show(r.path)+", "+size(r.t.Size()))
	if line := lossLine(r.t); line != "" {
		l.add("losses", l.red(line))
	} else {
		l.add("losses", "none")
	}
	for i, g := range r.t.Gaps() {
		if i == 5 {
			l.add("", fmt.Sprintf("… and %d more gaps", len(r.t.Gaps())-i))
			break
		}
		l.add("", fmt.Sprintf("from %s to %s: %s", humane(g.From), humane(g.To), loss{g.Reason, g.Count}))
	}
	pid := r.t.Header().PID
	l.add("state", map[state]string{
		stateClosed:    "closed by Stop",
		stateWriting:   fmt.Sprintf("being written by process %d", pid),
		stateAbandoned: fmt.Sprintf("not closed: process %d ended, or was killed, without Stop", pid),
		stateUnknown:   fmt.Sprintf("not closed; whether process %d still writes it can't be told here", pid),
	}[r.state])
	l.add("recorded", r.t.Start().Format("2006-01-02 15:04:05.000 -0700")+", for "+humane(r.t.End()))
}

// process tells of the program and its machine.
func (r *report) process(l *lines) {
	l.add("program", join(r.called(), prefix("in ", r.info("dir"))))
	module := strings.TrimSpace(r.info("module") + " " + r.info("version"))
	l.add("build", join(module, r.info("go"), platform(r.info("os"), r.info("arch"))))
	cpus := ""
	if n, ok := r.beat(format.FieldCPUs); ok {
		cpus = plural(n, "CPU")
		if limit, ok := r.beat(format.FieldCPULimit); ok {
			cpus += fmt.Sprintf(" (the cgroup allows %.2f)", float64(limit)/1000)
		}
		if procs, ok := r.beat(format.FieldGOMAXPROCS); ok {
			cpus += fmt.Sprintf(", GOMAXPROCS %d", procs)
		}
	}
	l.add("machine", join(r.info("host"), prefix("kernel ", r.info("kernel")), r.info("cpu"), cpus))
}

// called is how the program was called, and what it is where that does not say.
func (r *report) called() string {
	program, args := r.info("program"), r.info("args")
	if args == "" || strings.HasPrefix(args, program) {
		return cmp.Or(args, program)
	}
	return args + " (" + program + ")"
}

func prefix(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

func platform(os, arch string) string {
	if os == "" || arch == "" {
		return os + arch
	}
	return os + "/" + arch
}

// beat is a value of the last heartbeat.
func (r *report) beat(f format.Field) (int64, bool) {
	if n := len(r.t.Beats()); n > 0 {
		return r.t.Beats()[n-1].Value(f)
	}
	return 0, false
}

// because is a reason that the recorder gave for what it could not do.
func (r *report) because(text, key string) string {
	if why := r.info(key); why != "" {
		return text + " (reason: " + why + ")"
	}
	return text
}

// recorder tells how records were made, and why not better.
func (r *report) recorder(l *lines) {
	h := r.t.Header()
	if v := r.info("scopeview"); v != "" {
		l.add("recorder", fmt.Sprintf("scopeview %s, format %d.%d", v, h.Major, h.Minor))
	} else {
		l.add("recorder", fmt.Sprintf("format %d.%d", h.Major, h.Minor))
	}
	path := map[format.Path]string{
		format.PathAssembly: "assembly, the fastest",
		format.PathGo:       "Go, slower than assembly",
		format.PathPure:     "pure Go, the slowest",
	}[h.Path]
	if path == "" {
		path = h.Path.String()
	}
	l.add("path", r.because(path, "path_reason"))
	backing := map[format.Backing]string{
		format.BackingDisk: "disk: pages of the trace file itself",
		format.BackingHeap: "heap, copied to the file each round: a kill loses what came after the last one",
	}[h.Backing]
	if backing == "" {
		backing = h.Backing.String()
	}
	l.add("backing", r.because(backing, "backing_reason"))
	clock := map[format.Clock]string{
		format.ClockTSC:       "the processor's time-stamp counter",
		format.ClockMonotonic: "the system's monotonic clock",
	}[h.Clock]
	if clock == "" {
		clock = h.Clock.String()
	}
	l.add("clock", r.because(clock, "clock_reason"))
	l.add("witnesses", r.because(witnesses(h.Witness), "witness_reason"))
	l.add("filter", r.info("filter"))
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

// records counts the records, by kind and by what is known of their CPU time.
func (r *report) records(l *lines) {
	c := &r.census
	var kinds []string
	for _, k := range r.kinds() {
		kinds = append(kinds, thousands(k.count)+" "+k.name)
	}
	text := thousands(c.Total())
	if len(kinds) > 0 {
		text += ": " + strings.Join(kinds, ", ")
	}
	l.add("records", text+"; and "+plural(int64(len(r.t.Beats())), "heartbeat"))
	var open []string
	for _, k := range r.kinds() {
		if k.open > 0 {
			open = append(open, thousands(k.open)+" "+k.name)
		}
	}
	if len(open) > 0 {
		what := map[state]string{stateWriting: "running", stateUnknown: "running, or cut off"}[r.state]
		if what == "" {
			what = "cut off by the end of the recording"
		}
		l.add("open", strings.Join(open, ", ")+" ("+what+")")
	}
	var sum int64
	for _, n := range c.CPU {
		sum += n
	}
	if sum > 0 {
		share := func(q format.Quality) string { return percent(float64(c.CPU[q]) / float64(sum)) }
		l.add("CPU time", fmt.Sprintf("exact for %s of the ended tasks, likely for %s, an upper bound for %s, unknown for %s",
			share(format.Exact), share(format.Likely), share(format.AtMost), share(format.Unknown)))
	}
	l.add("recording cost", costText(r.cost))
}

// costText is the cost of recording in a line.
func costText(c analysis.Cost) string {
	measured, okM := c.Share(c.Measured)
	estimated, okE := c.Share(c.Estimated)
	part := func(p float64, ok bool, what string) string {
		if !ok {
			return what + " part unknown"
		}
		return tenths(p) + " " + what
	}
	if !okM && !okE {
		return "unknown: it takes two heartbeats that know the CPU time"
	}
	whole := tenths(measured+estimated) + " %"
	if !okM || !okE {
		whole = "at least " + whole
	}
	text := part(measured, okM, "measured") + ", " + part(estimated, okE, "estimated")
	if c.Unmeasured > 0 {
		text += ", and " + humane(c.Unmeasured) + " of its rounds could not be measured"
	}
	return fmt.Sprintf("%s of the CPU used (%s)", whole, text)
}

// tenths is a percentage with one digit; what is not 0 does not look like it.
func tenths(p float64) string {
	if p > 0 && p < 0.05 {
		return "<0.1"
	}
	return fmt.Sprintf("%.1f", p)
}
