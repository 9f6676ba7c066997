package std

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/args"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// records has the events that the programs recorded, a line for each event, without values that differ from
// run to run.
type records struct{ lines []string }

// expected are the beginnings of the lines that each hook must record.
var expected = map[string][]string{
	"mutex":     {"wait main.waitMutex mutex", "hold main.holdMutex mutex since", "hold main.waitMutex mutex exact"},
	"once":      {"wait main.waitOnce once", "hold main.holdOnce once since", "go main.holdOnce"},
	"rwmutex":   {"wait main.waitWriter rwmutex", "hold main.holdReader rwmutex shared since", "wait main.waitReader rwmutex shared", "hold main.holdWriter rwmutex since"},
	"waitgroup": {"wait main.waitGroup waitgroup"},
	"cond":      {"wait main.waitCond cond"},
	"chan":      {"wait main.waitSend send", "wait main.waitReceive receive"},
	"select":    {"wait main.waitSelect select"},
	"go":        {"go main.(*server).serve", "go main.goroutines canary.go"},
	"own":       {"task main.alone"},
	"deadlock":  {"closed by deadlock"},
	"heap":      {"task main.collected more=1"},
	"giveback":  {"task main.profiled", "task main.traced", "task main.flown"},
	Unwind:      {"task main.clobbered", "task main.recovered"},
	"exit":      {"closed by return", "closed by exit"},
	"http":      {"task GET /users/{id} path=/users/7 id=request seven status=200", "task HTTP GET carried.example path=/carried status=299", "task GET /carried path=/carried status=299", "task GET /panic path=/panic panicked=1"},
	"test":      {"task TestParent result=fail", "task TestParent/first result=pass", "task TestParent/second result=skip", "task FuzzSeed/seed#0 result=pass", "track TestParent/first"},
	"parallel":  {"task parallel pause"},
	"region":    {"task main.region task=1", "task main.job task=1", "task main.part task=2 of task=1", "task main.outside", "event main.logs message=one task=1", "event log format=%d 0=2"},
	"labels":    {"task pprof.Do(a, b) a=1 b=2", "event pprof labels a=3"},
	"benchmark": {"task BenchmarkNothing N=3 result=pass"},

	"slices": {"slice main.grown copied_bytes", "slice main.grown hinted"},
	"maps":   {"map main.mapped moved", "map main.mapped hinted"},
	"mapuse": {"map main.mapped gets", "map main.mapped puts", "map main.mapped deletes", "map main.mapped iterations", "map main.mapped steps", "map main.mapped clears"},

	"lists":      {"list main.listed puts", "list main.listed steps"},
	"searches":   {"search main.searched compared"},
	"shifts":     {"shift main.searched moved", "shift main.searched front"},
	"sorts":      {"sort main.sorted ns"},
	"mapnan":     {"map main.sorted extra2"},
	"concat":     {"concat main.stringed copied_bytes"},
	"convert":    {"convert main.stringed alloc_bytes"},
	"buffers":    {"slice main.stringed copied_bytes"},
	"memory":     {"scan main.walked steps"},
	"copies":     {"shift main.copied moved"},
	"atomics":    {""}, // they need colliding stores of two processors at once: see make advise-check
	"mutexuse":   {"mutex main.guarded gets", "mutex main.emptied puts", "mutex main.waitMutex wait_ns"},
	"regexps":    {"compile main.stringed extra"},
	"boxes":      {"box main.stringed allocs"},
	"pools":      {"pool main.pooled misses"},
	"files":      {"output main.written len_bytes"},
	"chanuse":    {"chan main.passed puts", "chan main.passed gets"},
	"rwmutexuse": {"rwmutex main.shared gets", "rwmutex main.shared puts"},
	"syncmap":    {"syncmap main.shared gets", "syncmap main.shared puts"},
	"goruns":     {"goroutine main.small watched"},
}

// missing returns the expected lines of a hook that were not recorded.
func (t *records) missing(hook string) (list []string) {
	if len(expected[hook]) == 0 {
		return []string{"its expected records are not defined"}
	}
	for _, want := range expected[hook] {
		if !slices.ContainsFunc(t.lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			list = append(list, want)
		}
	}
	return list
}

// read adds the events of a trace, and reports whether it is closed.
func (t *records) read(path string) (closed bool, err error) {
	tr, err := trace.OpenFile(path)
	if err != nil {
		return false, err
	}
	defer tr.Close()
	lister := args.NewLister(tr.Name)
	return tr.Closed(), tr.Events(trace.Options{}, func(e *trace.Event) bool {
		line := e.Kind.String() + " " + tr.Name(e.Name)
		if e.Kind == format.KindWait || e.Kind == format.KindHold {
			function, _, _ := strings.Cut(tr.Name(e.Name), " ")
			line = e.Kind.String() + " " + function + lockWords(e)
		} else {
			for _, a := range lister.List(e) {
				if strings.HasSuffix(a.Key, "_id") {
					continue // a link's values are random
				}
				line += " " + a.Key + "="
				switch a.Value.Type {
				case format.SlotString:
					line += string(a.Value.Str)
				default:
					line += fmt.Sprint(a.Value.Int())
				}
			}
		}
		t.lines = append(t.lines, line)
		return true
	})
}

// readRaw adds a raw file: a line for each value of a row, with the program's function that
// it was created in.
func (t *records) readRaw(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	runs, _, err := row.Read(f)
	for _, run := range runs {
		for _, r := range run.Rows {
			i := slices.IndexFunc(r.Stack, func(f string) bool { return strings.HasPrefix(f, "main.") })
			if i < 0 {
				continue
			}
			function, _, _ := strings.Cut(r.Stack[i], " ")
			for v, n := range r.V {
				if n != 0 {
					t.lines = append(t.lines, fmt.Sprintf("%v %s %v", r.Kind, function, row.Value(v)))
				}
			}
		}
	}
	return err
}

// lockWords describes the lock of a wait or a hold.
func lockWords(e *trace.Event) string {
	if len(e.Args) < 3 {
		return ""
	}
	what := e.Args[2].Value
	kind, mode := format.LockOf(what)
	words := " " + format.LockKindNames[kind]
	if mode == format.LockShared {
		words += " shared"
	}
	if e.Kind == format.KindHold {
		if what&format.LockSince != 0 {
			return words + " since"
		}
		return words + " exact"
	}
	return words
}
