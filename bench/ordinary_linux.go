package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// ordinaryRows measures the cost of recording for an unchanged program: built by the go
// command and by scopeview, in alternating copies.
func ordinaryRows(b *bench) []row {
	const calls = "the budget of 3 %, 10 M calls a second"
	o, err := b.ordinary()
	if err != nil {
		return []row{broken(calls, err)}
	}
	rows := []row{o.callsRow(calls)}
	rows = append(rows, o.eachRows("mutex", 10, 1, 1,
		"sync.Mutex that nobody waits for, recording", "  the same, not recording")...)
	rows = append(rows, o.eachRows("goroutines", 8, 100, 200,
		"a goroutine of 50,000 in a second, named", "  the same, not recording")...)
	rows = append(rows, o.eachRows("handovers", 10, 0, 0,
		"a hand-over through a channel, recording", "  the same, not recording")...)
	return append(rows, o.sizeRow(), o.startRow())
}

// Ways in which the program runs.
const (
	runPlain     = iota
	runUnwatched // built by scopeview, and not recording
	runRecorded  // without Go's execution trace
	runAll       // with the options of scopeview run
)

// budgets are the budgets that differ from the default, with which only some of the
// goroutines would have a name, because starting goroutines is most of the program's work.
var budgets = map[string]string{"goroutines": "100%"}

// take runs copies of the program in turn, and returns the CPU time of each, by round.
func (o *ordinaryBench) take(what string, slices int, ways ...int) (spent [][]float64, traces []string, err error) {
	var runs []func(in, out *os.File) error
	for _, way := range ways {
		cmd := exec.Command(o.recorded, what)
		if way == runPlain {
			cmd.Path = o.plain
		}
		cmd.Env = os.Environ()
		path := ""
		if way >= runRecorded {
			path = filepath.Join(o.dir, fmt.Sprint(what, way, ".scope"))
			cmd.Env = append(cmd.Env, "SCOPEVIEW="+path, "SCOPEVIEW_LIMIT=1G")
		}
		if way == runRecorded {
			cmd.Env = append(cmd.Env, "SCOPEVIEW_STATES=0", "SCOPEVIEW_BUDGET="+budgets[what])
		}
		traces = append(traces, path)
		runs = append(runs, func(in, out *os.File) error { return runTaker(cmd, in, out) })
	}
	takers, err := startTakers(runs...)
	if err != nil {
		return nil, nil, err
	}
	slices = o.slices(slices)
	spent, err = o.b.turns(takers, slices)
	for _, t := range takers {
		if e := t.end(); err == nil {
			err = e
		}
	}
	for _, round := range spent {
		for i := range round {
			round[i] /= float64(slices)
		}
	}
	return spent, traces, err
}

func (o *ordinaryBench) slices(n int) int {
	if o.b.short {
		return n / 2
	}
	return n
}

// compared returns of for each round.
func compared(spent [][]float64, of func(round []float64) float64) []float64 {
	var list []float64
	for _, round := range spent {
		list = append(list, of(round))
	}
	return list
}

// callsRow measures the promise: recording takes at most its share of CPU time.
func (o *ordinaryBench) callsRow(name string) row {
	spent, traces, err := o.take("calls", 16, runPlain, runAll, runUnwatched)
	if err != nil {
		return broken(name, err)
	}
	defer os.Remove(traces[1])
	c, err := callsOf(traces[1], "main.digest")
	if err != nil {
		return broken(name, err)
	}
	const perSlice = 2_000_000
	plain := median(compared(spent, func(r []float64) float64 { return r[0] }))
	more := compared(spent, func(r []float64) float64 { return 100 * (r[1]/r[0] - 1) })
	off := compared(spent, func(r []float64) float64 { return 100 * (r[2]/r[0] - 1) })
	q := quantity{median(more), "%"}
	r := row{name: name, value: q, judge: q, goal: 2, must: 3}
	rate := perSlice / plain * 1e3
	r.note = fmt.Sprintf("more CPU time; by round %.1f to %.1f %%; %.1f M calls in a second of it, %d of %d recorded; not recording %.1f %%",
		quantile(more, 0), quantile(more, 1), rate, c.Recorded, c.All(), median(off))
	if rate < 10 {
		r.note += "; the machine is too slow for 10 M"
	}
	switch n := c.All(); {
	case c.Unseen > 0:
		r.note += fmt.Sprintf("; of all %d are an estimate", c.Unseen)
	case n%perSlice != 0 || n == 0:
		r.fault = fmt.Sprintf("%d calls were counted, which is no multiple of %d", n, perSlice)
	}
	return r
}

// callsOf returns the counts of a function whose calls were not all recorded.
func callsOf(path, function string) (trace.CallCount, error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return trace.CallCount{}, err
	}
	defer t.Close()
	for _, c := range t.Calls() {
		if t.Name(c.Name) == function {
			return c, nil
		}
	}
	return trace.CallCount{}, fmt.Errorf("the trace has no count of unrecorded calls of %s", function)
}

// eachRows measures the extra cost per operation compared with the plain program.
func (o *ordinaryBench) eachRows(what string, slices int, goal, must float64, recording, unwatched string) []row {
	spent, traces, err := o.take(what, slices, runPlain, runRecorded, runUnwatched, runAll)
	if err != nil {
		return []row{broken(recording, err)}
	}
	n := float64(amounts[what])
	each := func(name string, way int) row {
		plain := median(compared(spent, func(r []float64) float64 { return r[0] / n }))
		more := compared(spent, func(r []float64) float64 { return (r[way] - r[0]) / n })
		q := quantity{median(more), "ns"}
		return row{name: name, value: q, note: fmt.Sprintf("more than %.1f ns of CPU time; by round %.1f to %.1f", plain, quantile(more, 0), quantile(more, 1))}
	}
	rows := []row{each(recording, 1), each("  with Go's execution trace", 3), each(unwatched, 2)}
	if must > 0 {
		rows[0].judge, rows[0].goal, rows[0].must = rows[0].value, goal, must
	}
	if what == "goroutines" {
		named, err := namedGoroutines(traces[1])
		if err != nil {
			rows[0].fault = err.Error()
		}
		started := (warmUps + o.b.rounds*o.slices(slices)) * amounts[what]
		rows[0].note += fmt.Sprintf("; %.0f %% named", 100*float64(named)/float64(started))
	}
	for _, path := range traces {
		if path != "" {
			os.Remove(path)
		}
	}
	return rows
}

// namedGoroutines counts the goroutines with named rows.
func namedGoroutines(path string) (n int, err error) {
	t, err := trace.OpenFile(path)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		if e.Kind == format.KindGo && t.Name(e.Name) == "main.finish" {
			n++
		}
		return true
	})
	if err == nil && n == 0 {
		err = errors.New("no goroutine was named")
	}
	return n, err
}

// amounts is the number of operations per slice.
var amounts = map[string]int{"mutex": 5_000_000, "goroutines": 5_000, "handovers": 200_000}

// sizeRow measures the growth of the executable.
func (o *ordinaryBench) sizeRow() row {
	const name = "its executable"
	plain, err := os.Stat(o.plain)
	if err != nil {
		return broken(name, err)
	}
	recorded, err := os.Stat(o.recorded)
	if err != nil {
		return broken(name, err)
	}
	return row{name: name, value: quantity{float64(recorded.Size()-plain.Size()) / 1e6, "MB"}, note: fmt.Sprintf("more than %.1f MB", float64(plain.Size())/1e6)}
}

// startRow measures a program that begins and ends at once.
func (o *ordinaryBench) startRow() row {
	const name = "a recording that begins and ends"
	l := launcher{dir: o.dir}
	var cpu [3][]float64
	for range 4 * o.b.rounds {
		for way := range cpu {
			command := []string{o.plain, "nothing"}
			if way > 0 {
				command[0] = o.recorded
			}
			path := filepath.Join(o.dir, "start.scope")
			l.env = nil
			if way > 1 {
				l.env = []string{"SCOPEVIEW=" + path, "SCOPEVIEW_LIMIT=1G"}
			}
			u, err := l.spent(command...)
			if err != nil {
				return broken(name, err)
			}
			os.Remove(path)
			cpu[way] = append(cpu[way], u.cpu.Seconds()*1e3)
		}
	}
	return row{name: name, value: quantity{median(cpu[2]) - median(cpu[0]), "ms"},
		note: fmt.Sprintf("of CPU time; not recording %.1f ms", median(cpu[1])-median(cpu[0]))}
}
