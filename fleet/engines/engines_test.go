package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/scope"
)

// TestRequestInJaeger: a request over two recordings is exported through a collector, and
// Jaeger gives it back as one, however often it was exported.
func TestRequestInJaeger(t *testing.T) {
	if os.Getenv("SCOPEVIEW_ENGINES") != "full" {
		t.Skip("builds a collector and Jaeger, which takes minutes: make engines-check")
	}
	dir := t.TempDir()
	tool := build(t, dir, "../..", "scopeview", "./cmd/scopeview")
	collector := build(t, dir, ".", "collector", ".")
	jaeger := build(t, dir, "jaeger", "jaeger", "github.com/jaegertracing/jaeger/cmd/all-in-one")

	from, stored, asked := port(t), port(t), port(t)
	engine(t, jaeger, asked, "--collector.otlp.http.host-port="+stored, "--query.http-server.host-port="+asked,
		"--collector.otlp.grpc.host-port="+port(t), "--query.grpc-server.host-port="+port(t), "--admin.http.host-port="+port(t),
		"--collector.http-server.host-port="+port(t), "--collector.grpc-server.host-port="+port(t))
	engine(t, collector, from, "--config=yaml:"+fmt.Sprintf(`
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters: {otlp_http: {endpoint: "http://%s"}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [otlp_http]}}
`, from, stored))

	client, server := filepath.Join(dir, "client.scope"), filepath.Join(dir, "server.scope")
	id := request(t, client, server)
	for range 2 { // the second time doubles nothing
		for _, trace := range []string{client, server} {
			out, err := exec.Command(tool, "export", "otlp", trace, "--name", "*", "--to", "http://"+from).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	want := []string{
		"checkout in nothing", "serve in checkout", "plain in serve", "query in serve: error, 1 event",
	}
	slices.Sort(want)
	var got []string
	for deadline := time.Now().Add(30 * time.Second); !slices.Equal(got, want); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("Jaeger has %q, want %q", got, want)
		}
		got = spans(t, asked, id)
	}
}

// request leaves two recordings with a request over both, and returns its id.
func request(t *testing.T, client, server string) string {
	t.Helper()
	recording := func(path string, f func()) {
		if err := scope.Start(path); err != nil {
			t.Fatal(err)
		}
		f()
		if err := scope.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	var header string
	var link scope.Link
	recording(client, func() {
		ctx, span := scope.Context(context.Background(), "checkout", scope.KV("user", 7))
		link, _ = scope.LinkOf(ctx)
		header = link.Traceparent()
		span.End()
	})
	recording(server, func() {
		caller, ok := scope.ParseTraceparent(header)
		if !ok {
			t.Fatalf("%q is no header", header)
		}
		ctx, span := scope.Context(scope.WithLink(context.Background(), caller), "serve")
		done := make(chan bool)
		go func() {
			_, query := scope.Context(ctx, "query")
			scope.Event("cache miss")
			query.End(scope.KV("failed", true))
			close(done)
		}()
		<-done
		scope.Task("plain")()
		span.End()
	})
	return hex.EncodeToString(link.Trace[:])
}

// spans describes what Jaeger has of a trace.
func spans(t *testing.T, address, id string) (list []string) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/api/traces/" + id)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Data []struct {
			Spans []struct {
				SpanID, OperationName string
				References            []struct{ RefType, SpanID string }
				Tags                  []struct {
					Key   string
					Value any
				}
				Logs []any
			}
			Processes map[string]struct{ ServiceName string }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, trace := range answer.Data {
		names := map[string]string{}
		for _, s := range trace.Spans {
			names[s.SpanID] = s.OperationName
		}
		for _, s := range trace.Spans {
			text := s.OperationName + " in nothing"
			for _, r := range s.References {
				text = s.OperationName + " in " + names[r.SpanID]
			}
			for _, tag := range s.Tags {
				if tag.Key == "error" && tag.Value == true {
					text += ": error"
				}
			}
			if len(s.Logs) > 0 {
				text += fmt.Sprintf(", %d event", len(s.Logs))
			}
			list = append(list, text)
		}
		for _, p := range trace.Processes {
			if p.ServiceName != "engines.test" {
				t.Fatalf("the service is %q", p.ServiceName)
			}
		}
	}
	slices.Sort(list)
	return list
}

// build builds a command of the module in a directory.
func build(t *testing.T, dir, module, name, pkg string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir = module
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	t.Logf("%s is built in %.0f s", name, time.Since(began).Seconds())
	return path
}

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

// engine starts an engine, and waits until it answers at an address.
func engine(t *testing.T, path, address string, args ...string) {
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
