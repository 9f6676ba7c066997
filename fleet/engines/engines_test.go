package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/scope"
)

// TestRequestInJaeger: a request over two recordings is exported through a collector, and
// Jaeger gives it back as one, however often it was exported.
func TestRequestInJaeger(t *testing.T) {
	e := build(t)
	jaeger := e.jaeger(t)
	from := e.collector(t, fmt.Sprintf(`
exporters: {otlp_http: {endpoint: "http://%s"}}
service:
  telemetry: {metrics: {level: none}}
  pipelines: {traces: {receivers: [otlp], exporters: [otlp_http]}}
`, jaeger.stored))

	dir := t.TempDir()
	client, server := filepath.Join(dir, "client.scope"), filepath.Join(dir, "server.scope")
	id := request(t, client, server)
	for range 2 { // the second time doubles nothing
		for _, trace := range []string{client, server} {
			run(t, e.tool, "export", "otlp", trace, "--name", "*", "--to", "http://"+from)
		}
	}
	waitFor(t, "Jaeger has", func() []string { return jaeger.spans(t, id) }, []string{
		"checkout in nothing", "serve in checkout", "plain in serve", "query in serve: error, 1 event",
	})
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
func (j *jaeger) spans(t *testing.T, id string) (list []string) {
	t.Helper()
	var answer traces
	j.get(t, "/api/traces/"+id, &answer)
	for _, trace := range answer.Data {
		for _, s := range trace.Spans {
			text := s.OperationName + " in nothing"
			if p := trace.find(s.parent()); p != nil {
				text = s.OperationName + " in " + p.OperationName
			}
			if s.tag("error") == true {
				text += ": error"
			}
			if len(s.Logs) > 0 {
				text += fmt.Sprintf(", %d event", len(s.Logs))
			}
			list = append(list, text)
			if p := trace.service(&s); p != "engines.test" {
				t.Fatalf("the service is %q", p)
			}
		}
	}
	return list
}
