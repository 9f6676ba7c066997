package uitest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"

	text "github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

// csvRecord is a line of scopeview export csv, with which the page is compared.
type csvRecord struct {
	kind, name, track, args string
	goid                    int64
	depth                   int
	start, dur              float64
}

func (r *csvRecord) end() float64 { return r.start + r.dur }

// isScope reports whether it is a scope, which may count for the whole process.
func (r *csvRecord) isScope() bool { return r.kind == "task" || r.kind == "process" }

// truth has the records of a trace.
type truth []*csvRecord

func truthOf(t *testing.T, trace string) (all truth) {
	t.Helper()
	out, err := cmd.Run("export", "csv", trace)
	check(t, err)
	return readCSV(t, out)
}

// readCSV reads what scopeview export csv writes, or the page.
func readCSV(t *testing.T, content []byte) (all truth) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	check(t, err)
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if s != "" {
			check(t, err)
		}
		return v
	}
	for _, r := range rows[1:] {
		all = append(all, &csvRecord{kind: r[0], name: r[1], track: r[2], args: r[11], goid: int64(number(r[3])), depth: int(number(r[5])), start: number(r[6]), dur: number(r[7])})
	}
	return all
}

// those returns the records for which a condition holds.
func (all truth) those(is func(r *csvRecord) bool) (some truth) {
	for _, r := range all {
		if is(r) {
			some = append(some, r)
		}
	}
	return some
}

// named returns the scopes of a name, or the waits or holds of a lock.
func (all truth) named(kind, name string) truth {
	return all.those(func(r *csvRecord) bool { return (r.kind == kind || kind == "task" && r.isScope()) && r.name == name })
}

// longest returns the longest of them.
func (all truth) longest(t *testing.T) *csvRecord {
	t.Helper()
	if len(all) == 0 {
		t.Fatal("the trace has none")
	}
	return slices.MaxFunc(all, func(a, b *csvRecord) int { return int(a.dur - b.dur) })
}

// quantile returns the duration that a share of them does not exceed.
func (all truth) quantile(share float64) float64 {
	var durations []float64
	for _, r := range all {
		durations = append(durations, r.dur)
	}
	slices.Sort(durations)
	return durations[max(0, int(share*float64(len(durations))+0.999999)-1)]
}

var unitOf = regexp.MustCompile(`^([\d.]+)(\D+)$`)

// durationText formats a duration as the page does.
func durationText(ns float64) string {
	if ns == 0 {
		return "0 s"
	}
	return unitOf.ReplaceAllString(text.Duration(ns), "$1 $2")
}

// exactText formats ns with all digits, as a scope's details do.
func exactText(ns float64) string { return fmt.Sprintf("(%s ns)", text.Count(ns)) }

// The traces of the tasks.
var (
	demo      = sync.OnceValues(func() (string, error) { return gostats("demo.scope", "600") })
	laterDemo = sync.OnceValues(func() (string, error) { return gostats("later.scope", "300") })

	server      = sync.OnceValues(func() (string, error) { return recorded("server", traces.Connections) })
	laterServer = sync.OnceValues(func() (string, error) {
		path := filepath.Join(dir, "later-server.scope")
		return path, traces.Record(path, "server", 1000)
	})
	plain      = sync.OnceValues(func() (string, error) { return goTest("plain.trace") })
	laterPlain = sync.OnceValues(func() (string, error) { return goTest("later.trace") })
)

// gostats is the demo: see make demo.
func gostats(file, files string) (string, error) {
	path := filepath.Join(dir, file)
	program, err := demoProgram()
	if err == nil {
		_, err = program.Run("-workers", "8", "-limit-files", files, "-trace", path)
	}
	return path, err
}

var demoProgram = sync.OnceValues(func() (tool.Tool, error) { return tool.Build(dir, "./examples/gostats") })

// plainTest is a test of a module that does not know of scopeview: want waits for the lock that keep holds for 80 ms,
// each of calls is a region, and crunch computes with others while the garbage is collected.
const plainTest = `package plain

import (
	"context"
	"runtime"
	"runtime/trace"
	"sync"
	"testing"
	"time"
)

var mu sync.Mutex

func region(name string) func() { return trace.StartRegion(context.Background(), name).End }

func keep(held chan bool) {
	mu.Lock()
	close(held)
	time.Sleep(80 * time.Millisecond)
	mu.Unlock()
}

func want(done *sync.WaitGroup) {
	defer done.Done()
	for range 20 {
		func() {
			defer region("call")()
			mu.Lock()
			defer mu.Unlock()
		}()
	}
}

func idle(never chan bool) { <-never }

func busy(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

func crunch(done *sync.WaitGroup) {
	defer done.Done()
	defer region("crunch")()
	busy(20 * time.Millisecond)
	runtime.GC()
	busy(20 * time.Millisecond)
}

func rival(done *sync.WaitGroup) {
	defer done.Done()
	busy(30 * time.Millisecond)
}

func TestWork(t *testing.T) {
	runtime.GOMAXPROCS(2)
	never, held := make(chan bool), make(chan bool)
	for range 50 {
		go idle(never)
	}
	var done sync.WaitGroup
	done.Add(1)
	go keep(held)
	<-held
	go want(&done)
	done.Wait()
	done.Add(5)
	go crunch(&done)
	for range 4 {
		go rival(&done)
	}
	done.Wait()
	close(never)
}
`

// goTest runs go test -trace.
func goTest(file string) (string, error) {
	module := filepath.Join(dir, "plain")
	path := filepath.Join(dir, file)
	if err := os.MkdirAll(module, 0o700); err != nil {
		return "", err
	}
	for name, text := range map[string]string{"go.mod": "module plain\n\ngo 1.24\n", "plain_test.go": plainTest} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	run := exec.Command("go", "test", "-count=1", "-trace", path, "-run", "TestWork", ".")
	run.Dir = module
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := run.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -trace: %w: %s", err, out)
	}
	return path, nil
}

// statesOf returns the time of a scope's goroutine by state, from scopeview states.
func statesOf(t *testing.T, trace, scope string) map[string]float64 {
	t.Helper()
	var report struct {
		Groups []struct {
			Name   string
			States map[string]float64 `json:"states_ns"`
		}
	}
	out, err := cmd.Run("states", trace, "--name", scope, "--json")
	check(t, err)
	check(t, json.Unmarshal(out, &report))
	for _, g := range report.Groups {
		if g.Name == scope {
			return g.States
		}
	}
	t.Fatalf("scopeview states has no %s", scope)
	return nil
}
