package others

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/runs"
	"github.com/scopeview/scopeview/internal/trace"
)

// budget is what recording may take of the CPU time where nothing else is said.
const budget = 0.03

// rounds is how often each program is run in each way.
const rounds = 8

// ways are how a program is run: as it is, recorded as scopeview run has it, and without states.
var ways = []struct {
	name string
	env  []string
}{
	{"plain", nil},
	{"recorded", nil},
	{"without states", []string{"SCOPEVIEW_STATES=0"}},
}

// programs are of the modules. run runs one that was built, and returns what it gives and what
// that took.
var programs = []struct {
	name, version, main string
	run                 func(c *checkout, program string, env []string) (string, runs.Took)
	goroutines          bool // it has some beside the first
	contended           bool // its locks are waited for
}{
	{"nats-server", "github.com/nats-io/nats-server/v2@v2.15.2", ".", serve, true, true},
	{"bbolt", "go.etcd.io/bbolt@v1.5.0", "./cmd/bbolt", store, false, false},
	{"s2c", "github.com/klauspost/compress@v1.20.3", "./s2/cmd/s2c", pack, true, false},
	{"callgraph", "golang.org/x/tools@v0.52.0", "./cmd/callgraph", graph, true, true},
}

// TestCost: what recording takes of a program's CPU time is within the budget, as far as can be
// told of so many runs in turn, once two runs have shown what is called too often; what the program
// gives is the same each time; and its trace has what it is for.
func TestCost(t *testing.T) {
	full(t)
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			c := module(t, p.version)
			bin, dirs := t.TempDir(), []string{"", t.TempDir(), t.TempDir()}
			plain, ours := filepath.Join(bin, "plain"), filepath.Join(bin, "ours")
			c.must("go", "build", "-buildvcs=false", "-o", plain, p.main)
			c.must(c.tool, "build", "-buildvcs=false", "-o", ours, p.main) // or who waits for the server waits for it, too
			// What the first runs find to be called too often is left out of what is built after them.
			learning := filepath.Join(bin, "learning")
			script := fmt.Sprintf("#!/bin/sh\ncd %q && exec %q run -o %q %s \"$@\"\n", c.dir, c.tool, t.TempDir(), p.main)
			if err := os.WriteFile(learning, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				p.run(c, learning, c.env)
			}
			c.must(c.tool, "build", "-buildvcs=false", "-o", ours, p.main)
			took := make([][]float64, len(ways))
			var want string
			for round := range rounds {
				for i, w := range ways {
					program, env := plain, append(slices.Clone(c.env), w.env...)
					if i > 0 {
						program, env = ours, append(env, "SCOPEVIEW="+dirs[i]+"/", "SCOPEVIEW_LIMIT=1G")
					}
					got, cost := p.run(c, program, env)
					took[i] = append(took[i], math.Log(float64(cost.User+cost.System)))
					if want == "" {
						want = got
					}
					if got != want {
						t.Fatalf("round %d, %s: it gave %.200q, and plain %.200q", round, w.name, got, want)
					}
				}
			}
			for i, w := range ways[1:] {
				low, high, confidence := runs.Intervals{}.Of(took[0], took[i+1])
				low, high = math.Exp(low)-1, math.Exp(high)-1
				t.Logf("%s: %.2f s of CPU time plain, and %+.1f %% to %+.1f %% with a confidence of %.0f %%", w.name, median(took[0]), 100*low, 100*high, 100*confidence)
				told := exceeded(t, dirs[i+1])
				if told != "" {
					t.Logf("%s: the trace says: %s", w.name, told)
				}
				if low > budget {
					t.Errorf("%s: recording takes at least %.1f %% of the CPU time, and the budget is %.1f %%", w.name, 100*low, 100*budget)
				}
				c.look(traces(t, dirs[i+1], rounds)[0], p.goroutines, p.contended)
			}
		})
	}
}

// exceeded is what one of the traces says of a budget that could not be kept.
func exceeded(t *testing.T, dir string) (told string) {
	t.Helper()
	for _, path := range traces(t, dir, rounds) {
		tr, err := trace.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		told = cmp.Or(told, tr.Lookup("budget_exceeded"))
		tr.Close()
	}
	return told
}

func median(logs []float64) float64 {
	logs = slices.Sorted(slices.Values(logs))
	return math.Exp(logs[len(logs)/2]) / 1e9
}

// goroutine is the name of a row: of a function, with its package.
var goroutine = regexp.MustCompile(`(?m)^[a-z]+\.[A-Za-z(]\S* `)

// look looks for what a trace is for: functions, goroutines by name, waits with holders, and a
// verdict of the doctor.
func (c *checkout) look(path string, goroutines, contended bool) {
	c.t.Helper()
	if calls, _, _ := callsOf(c.t, path); len(calls) < 10 {
		c.t.Errorf("%s has %d functions", path, len(calls))
	}
	rows := c.must(c.tool, "top", "--by", "track", path).out
	if goroutines && !goroutine.MatchString(rows) {
		c.t.Errorf("%s has no goroutines by name:\n%s", path, rows)
	}
	var d struct {
		Locks []struct {
			Kind    string
			Holders []struct{ Name *string }
		}
	}
	if err := json.Unmarshal([]byte(c.must(c.tool, "waits", "--json", path).out), &d); err != nil {
		c.t.Fatal(err)
	}
	held := false
	for _, l := range d.Locks {
		for _, h := range l.Holders {
			held = held || h.Name != nil && strings.HasSuffix(l.Kind, "mutex")
		}
	}
	if contended && !held {
		c.t.Errorf("%s has no waits for a lock whose holder is known", path)
	}
	c.must(c.tool, "doctor", path)
}

// once runs a command that ends by itself.
func once(c *checkout, env []string, out io.Writer, program string, args ...string) runs.Took {
	c.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout = c.dir, env, out
	took, err := runs.Once(cmd)
	if err != nil {
		c.t.Fatalf("%s %q: %v", program, args, err)
	}
	return took
}

// pack compresses some 60 MB of Go source.
func pack(c *checkout, program string, env []string) (string, runs.Took) {
	in := filepath.Join(filepath.Dir(program), "in")
	if _, err := os.Stat(in); err != nil {
		var text []byte
		files, err := filepath.Glob(filepath.Join(c.dir, "*", "*.go"))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				c.t.Fatal(err)
			}
			text = append(text, b...)
		}
		if err := os.WriteFile(in, bytes.Repeat(text, 60<<20/len(text)+1), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	sum := sha256.New()
	took := once(c, env, sum, program, "-slower", "-cpu", "2", "-c", in)
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// graph lists who calls whom.
func graph(c *checkout, program string, env []string) (string, runs.Took) {
	var out bytes.Buffer
	took := once(c, env, &out, program, "-algo", "rta", "./cmd/...")
	return fmt.Sprintf("%d lines", strings.Count(out.String(), "\n")), took // of a type with two names they have one or the other
}

// store copies a data base of eight million keys, without those pages that are free.
func store(c *checkout, program string, env []string) (string, runs.Took) {
	dir := filepath.Dir(program)
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if _, err := os.Stat(from); err != nil {
		once(c, c.env, io.Discard, filepath.Join(dir, "plain"), "bench", "--path", from, "--work", "--no-sync", "--count", "8000000", "--batch-size", "50000")
	}
	defer os.Remove(to)
	took := once(c, env, io.Discard, program, "compact", "--no-sync", "-o", to, from)
	b, err := os.ReadFile(to)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf("%d bytes, %x", len(b), sha256.Sum256(b)), took
}

// serve has a server of NATS pass messages of its own client's benchmark.
func serve(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	dir := filepath.Dir(program)
	bench := filepath.Join(dir, "bench")
	if _, err := os.Stat(bench); err != nil {
		var m struct{ Dir string }
		if err := json.Unmarshal([]byte(c.must("go", "mod", "download", "-json", "github.com/nats-io/nats.go@v1.55.0").out), &m); err != nil {
			c.t.Fatal(err)
		}
		(&checkout{t: c.t, dir: m.Dir, env: c.env}).must("go", "build", "-o", bench, "./examples/nats-bench")
	}
	port, monitor := free(c.t), free(c.t)
	// Who reads slowly here is to be waited for, whatever else the machine does.
	config := filepath.Join(dir, "config")
	if err := os.WriteFile(config, []byte("max_pending: 2GB\nwrite_deadline: \"5m\"\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(program, "-c", config, "-a", "127.0.0.1", "-p", port, "-m", monitor)
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	begin := time.Now()
	address := "http://127.0.0.1:" + monitor
	// The first time it is built, and all of its packages with it.
	for deadline := begin.Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if r, err := http.Get(address + "/healthz"); err == nil {
			r.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatal("the server does not answer")
		}
	}
	for range 12 {
		c.must(bench, "-s", "127.0.0.1:"+port, "-np", "4", "-ns", "4", "-n", "200000", "-ms", "128", "news")
	}
	r, err := http.Get(address + "/varz")
	if err != nil {
		c.t.Fatal(err)
	}
	var passed struct {
		In  int64 `json:"in_msgs"`
		Out int64 `json:"out_msgs"`
	}
	err = json.NewDecoder(r.Body).Decode(&passed)
	r.Body.Close()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	var exited *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exited) {
		c.t.Fatal(err)
	}
	s := cmd.ProcessState
	return fmt.Sprintf("%d in, %d out, %v", passed.In, passed.Out, s), runs.Took{Wall: int64(time.Since(begin)), User: int64(s.UserTime()), System: int64(s.SystemTime())}
}

// free is a port that is free.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
