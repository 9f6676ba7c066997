package others

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/runs"
)

// program is a program of a module. run runs a build of it, and returns its result and its
// cost.
type program struct {
	name, version, main string
	bench               string // flags of the benchmarks of package main; empty: it is a command
	run                 func(c *checkout, program string, env []string) (string, runs.Took)
	goroutines          bool    // it has more than the first one
	contended           bool    // its locks have waiters
	serves              bool    // it serves clients
	most                float64 // minimum limit of the cost, if more than the budget: docs/performance.md explains it
}

const stores = "-bench=Store|Sketch -benchtime=10000000x"

var programs = []program{
	{"esbuild", "github.com/evanw/esbuild@v0.28.2", "./cmd/esbuild", "", bundle, true, false, false, 0},
	{"nilness", "golang.org/x/tools@v0.52.0", "./go/analysis/passes/nilness/cmd/nilness", "", check, true, false, false, 0},
	{"ristretto", "github.com/dgraph-io/ristretto/v2@v2.4.2", ".", stores, keep, false, false, false, 1.5},
	{"fzf", "github.com/junegunn/fzf@v0.65.2", ".", "", find, true, false, false, 0},
	{"bbolt", "go.etcd.io/bbolt@v1.5.0", "./cmd/bbolt", "", store, false, false, false, 1.1},
	{"grpc", "google.golang.org/grpc@v1.85.0", "./interop/server", "", call, true, false, true, 0},
	{"go-httpbin", "github.com/mccutchen/go-httpbin/v2@v2.26.0", "./cmd/go-httpbin", "", request, true, false, true, 0},
	{"s2c", "github.com/klauspost/compress@v1.20.3", "./s2/cmd/s2c", "", pack, true, false, false, 0},
	{"shfmt", "mvdan.cc/sh/v3@v3.14.1", "./cmd/shfmt", "", tidy, false, false, false, 0},
	{"ql", "modernc.org/ql@v1.7.0", "./ql", "", query, false, false, false, 0},
	{"nats-server", "github.com/nats-io/nats-server/v2@v2.15.2", ".", "", serve, true, true, true, 0},
	{"callgraph", "golang.org/x/tools@v0.52.0", "./cmd/callgraph", "", graph, true, true, false, 0},
}

// made creates a file beside a program, the first time.
func made(c *checkout, program, name string, text func() []byte) string {
	c.t.Helper()
	path := filepath.Join(filepath.Dir(program), name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.WriteFile(path, text(), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// frontend is the input of esbuild, and packages are those that npm installs for it.
const (
	frontend = "import * as a from 'three'; import * as b from 'react'; import * as c from 'react-dom/client'; import * as d from 'antd'; import * as e from '@mui/material'; console.log(a, b, c, d, e)\n"
	packages = "three@0.180.0 react@19.2.0 react-dom@19.2.0 antd@5.27.4 @mui/material@7.3.4 @emotion/react@11.14.0 @emotion/styled@11.14.1"
)

// bundle bundles a front end.
func bundle(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	dir := filepath.Join(filepath.Dir(program), "front")
	if _, err := os.Stat(dir); err != nil {
		if _, err := exec.LookPath("npm"); err != nil {
			c.t.Skip("needs ", err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			c.t.Fatal(err)
		}
		at := &checkout{t: c.t, dir: dir, env: c.env}
		at.must("npm", append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"}, strings.Fields(packages)...)...)
	}
	entry := made(c, filepath.Join(dir, "esbuild"), "entry.js", func() []byte { return []byte(frontend) })
	sum := sha256.New()
	took := once(c, env, nil, sum, program, "--bundle", "--minify", entry)
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// check runs a linter on the source of its own module.
func check(c *checkout, program string, env []string) (string, runs.Took) {
	var out bytes.Buffer
	took := once(c, env, nil, &out, program, "./go/ssa/...", "./go/callgraph/...")
	return fmt.Sprintf("%d lines", strings.Count(out.String(), "\n")), took
}

// keep runs a cache's own benchmarks.
func keep(c *checkout, program string, env []string) (string, runs.Took) {
	var out bytes.Buffer
	args := []string{"-test.run=NONE"}
	for _, f := range strings.Fields(stores) {
		args = append(args, "-test."+f[1:])
	}
	took := once(c, env, nil, &out, program, args...)
	return fmt.Sprintf("%d benchmarks", strings.Count(out.String(), "ns/op")), took
}

// find makes a line finder for the terminal sort a million lines by their match.
func find(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	list := made(c, program, "list", func() (b []byte) {
		for i := range 1_000_000 {
			b = fmt.Appendf(b, "src/%x/scope/view%d/%x.go\n", i*2654435761%4096, i%1000, i*40503)
		}
		return b
	})
	in, err := os.Open(list)
	if err != nil {
		c.t.Fatal(err)
	}
	defer in.Close()
	sum := sha256.New()
	took := once(c, env, in, sum, program, "--filter=scvi7 go !ff")
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// tidy formats a long shell script.
func tidy(c *checkout, program string, env []string) (string, runs.Took) {
	const part = "f_%d() {\n  local x=$1 y=\"${2:-a b}\"\n  for i in $(seq 1 $x); do if [[ $i -gt 3 && -n $y ]]; then echo \"$i ${y//a/b}\" | sed -e 's/x/y/' >>out; fi; done\n" +
		"  case $y in a*|b) return 1;; *) cat <<EOF\n$x and $((x * 2 + %d))\nEOF\n;; esac\n}\n"
	script := made(c, program, "script.sh", func() (b []byte) {
		for i := range 12_000 {
			b = fmt.Appendf(b, part, i, i)
		}
		return b
	})
	sum := sha256.New()
	took := once(c, env, nil, sum, program, script)
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// query makes a database fill a table and answer queries.
func query(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	script := made(c, program, "script.ql", func() []byte {
		b := []byte("BEGIN TRANSACTION; CREATE TABLE t (a int, b string, c float); CREATE INDEX ta ON t (a);\n")
		for i := range 2_000 {
			b = fmt.Appendf(b, "INSERT INTO t VALUES (%d, \"%x\", %d.5);\n", i*7919%2_000, i*2654435761, i)
		}
		b = append(b, "COMMIT;\n"...)
		for i := range 5 {
			b = fmt.Appendf(b, "SELECT b, count(*), sum(c), max(a) FROM t WHERE a > %d GROUP BY b ORDER BY b LIMIT 5;\n", 100*i)
		}
		return b
	})
	in, err := os.Open(script)
	if err != nil {
		c.t.Fatal(err)
	}
	defer in.Close()
	db := filepath.Join(c.t.TempDir(), "ql.db")
	sum := sha256.New()
	took := once(c, env, in, sum, program, "-db", db)
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// loaded runs a server under load, and returns its cost.
func loaded(c *checkout, env []string, address string, load func(), program string, args ...string) runs.Took {
	c.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = c.dir, env
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	begin := time.Now()
	ended := false
	defer func() {
		if !ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}()
	// The first time it is built, with all of its packages.
	for deadline := begin.Add(5 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			c.t.Fatal("the server does not answer")
		}
	}
	load()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	var exited *exec.ExitError
	err := cmd.Wait()
	ended = true
	if err != nil && !errors.As(err, &exited) {
		c.t.Fatal(err)
	}
	s := cmd.ProcessState
	return runs.Took{Wall: int64(time.Since(begin)), User: int64(s.UserTime()), System: int64(s.SystemTime())}
}

// call runs a gRPC server with its own client.
func call(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	client := filepath.Join(filepath.Dir(program), "client")
	if _, err := os.Stat(client); err != nil {
		c.must("go", "build", "-buildvcs=false", "-o", client, "./interop/client")
	}
	port := free(c.t)
	took := loaded(c, env, "127.0.0.1:"+port, func() {
		c.must(client, "--server_host=127.0.0.1", "--server_port="+port, "--test_case=rpc_soak", "--soak_iterations=16000", "--soak_num_threads=4",
			"--soak_request_size=2000", "--soak_response_size=2000", "--soak_max_failures=0", "--soak_per_iteration_max_acceptable_latency_ms=60000", "--soak_overall_timeout_seconds=300")
	}, program, "--port="+port)
	return "16000 calls", took
}

// request runs an HTTP server with four clients.
func request(c *checkout, program string, env []string) (string, runs.Took) {
	c.t.Helper()
	port := free(c.t)
	address := "127.0.0.1:" + port
	took := loaded(c, env, address, func() {
		var clients sync.WaitGroup
		failed := make(chan error, 4)
		for range 4 {
			clients.Go(func() { failed <- ask("http://" + address) })
		}
		clients.Wait()
		for range 4 {
			if err := <-failed; err != nil {
				c.t.Error(err)
			}
		}
	}, program, "-host", "127.0.0.1", "-port", port, "-log-level", "ERROR")
	return "20000 requests", took
}

// ask sends 5,000 requests to a server.
func ask(url string) error {
	client := http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for i := range 5000 {
		r, err := client.Post(url+"/anything?n="+fmt.Sprint(i), "application/json", strings.NewReader(`{"text": "`+strings.Repeat("x", 1000)+`"}`))
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != 200 {
			return errors.Join(errors.New(r.Status), err)
		}
	}
	return nil
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
	took := once(c, env, nil, sum, program, "-slower", "-cpu", "2", "-c", in)
	return fmt.Sprintf("%x", sum.Sum(nil)), took
}

// graph prints a call graph.
func graph(c *checkout, program string, env []string) (string, runs.Took) {
	var out bytes.Buffer
	took := once(c, env, nil, &out, program, "-algo", "rta", "./cmd/...")
	return fmt.Sprintf("%d lines", strings.Count(out.String(), "\n")), took // a type with two names may have either of them in the output
}

// store copies a database of eight million keys, without its free pages.
func store(c *checkout, program string, env []string) (string, runs.Took) {
	dir := filepath.Dir(program)
	from, to := filepath.Join(dir, "from"), filepath.Join(c.t.TempDir(), "to")
	if _, err := os.Stat(from); err != nil {
		once(c, c.env, nil, io.Discard, filepath.Join(dir, "plain"), "bench", "--path", from, "--work", "--no-sync", "--count", "8000000", "--batch-size", "50000")
	}
	defer os.Remove(to)
	took := once(c, env, nil, io.Discard, program, "compact", "--no-sync", "-o", to, from)
	b, err := os.ReadFile(to)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf("%d bytes, %x", len(b), sha256.Sum256(b)), took
}

// serve runs a NATS server with the benchmark of its own client.
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
	// A slow reader must not be disconnected, whatever else the machine does.
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
	// The first time it is built, with all of its packages.
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

// free returns a free port.
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
