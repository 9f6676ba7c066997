package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// engines are programs: ours, a collector and Jaeger.
type engines struct{ tool, from, store string }

// built has the results of build, once for all tests.
var built struct {
	sync.Once
	dir string
	engines
	failed error
}

// build builds the programs.
func build(t *testing.T) *engines {
	t.Helper()
	if os.Getenv("SCOPEVIEW_ENGINES") != "full" {
		t.Skip("builds a collector and Jaeger, which takes minutes: make engines-check")
	}
	built.Do(func() {
		e := &built.engines
		for _, p := range []struct {
			path              *string
			module, name, pkg string
		}{
			{&e.tool, "../..", "scopeview", "./cmd/scopeview"},
			{&e.from, ".", "collector", "."},
			{&e.store, "jaeger", "jaeger", "github.com/jaegertracing/jaeger/cmd/all-in-one"},
		} {
			*p.path = filepath.Join(built.dir, p.name)
			cmd := exec.Command("go", "build", "-o", *p.path, p.pkg)
			cmd.Dir = p.module
			began := time.Now()
			if out, err := cmd.CombinedOutput(); err != nil {
				built.failed = fmt.Errorf("building %s: %v\n%s", p.pkg, err, out)
				return
			}
			t.Logf("%s is built in %.0f s", p.name, time.Since(began).Seconds())
		}
	})
	if built.failed != nil {
		t.Fatal(built.failed)
	}
	return &built.engines
}

// jaeger is one that runs.
type jaeger struct{ stored, asked string } // addresses: where it takes spans, and answers

func (e *engines) jaeger(t *testing.T) *jaeger {
	t.Helper()
	j := &jaeger{port(t), port(t)}
	start(t, e.store, j.asked, "--collector.otlp.http.host-port="+j.stored, "--query.http-server.host-port="+j.asked,
		"--collector.otlp.grpc.host-port="+port(t), "--query.grpc-server.host-port="+port(t), "--admin.http.host-port="+port(t),
		"--collector.http-server.host-port="+port(t), "--collector.grpc-server.host-port="+port(t))
	return j
}

// collector starts one that takes spans at the address that it returns, and has the rest of its
// configuration from the test.
func (e *engines) collector(t *testing.T, config string) string {
	t.Helper()
	from := port(t)
	start(t, e.from, from, "--config=yaml:"+fmt.Sprintf("receivers: {otlp: {protocols: {http: {endpoint: %q}}}}\n", from)+config)
	return from
}

// get asks Jaeger.
func (j *jaeger) get(t *testing.T, what string, answer any) {
	t.Helper()
	resp, err := http.Get("http://" + j.asked + what)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		t.Fatalf("Jaeger's answer about %s: %v", what, err)
	}
}

// traces is an answer of Jaeger's.
type traces struct {
	Data []stored
}

// stored is a trace.
type stored struct {
	Spans     []span
	Processes map[string]struct{ ServiceName string }
}

type span struct {
	SpanID, OperationName, ProcessID string
	References                       []struct{ SpanID string }
	Tags                             []struct {
		Key   string
		Value any
	}
	Logs []any
}

func (s *span) parent() string {
	for _, r := range s.References {
		return r.SpanID
	}
	return ""
}

func (s *span) tag(key string) any {
	for _, t := range s.Tags {
		if t.Key == key {
			return t.Value
		}
	}
	return nil
}

func (x *stored) find(id string) *span {
	for i := range x.Spans {
		if x.Spans[i].SpanID == id {
			return &x.Spans[i]
		}
	}
	return nil
}

func (x *stored) service(s *span) string { return x.Processes[s.ProcessID].ServiceName }

// port returns an address that is free.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a program, and waits until it answers at an address.
func start(t *testing.T, path, address string, args ...string) {
	t.Helper()
	var log strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		if t.Failed() {
			t.Logf("%s said\n%s", filepath.Base(path), log.String())
		}
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer at %s", filepath.Base(path), address)
		}
	}
}
