package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServiceGraph: what a collector's connector counts of the spans of three services, and the
// graph that Jaeger makes of them, is what was asked, to the call: by HTTP and gRPC, answered and
// failed, from the recordings one by one and from the merged one.
func TestServiceGraph(t *testing.T) {
	e := build(t)
	dir := t.TempDir()
	traces := record(t, dir)
	merged := filepath.Join(dir, "merged.scope")
	run(t, e.tool, append([]string{"merge", "-o", merged}, traces...)...)
	for _, sent := range [][]string{traces, {merged}} {
		var got metrics
		sink := httptest.NewServer(&got)
		defer sink.Close()
		jaeger := e.jaeger(t)
		from := e.collector(t, fmt.Sprintf(counting, jaeger.stored, sink.URL))
		for _, trace := range sent {
			run(t, e.tool, "export", "otlp", trace, "--to", "http://"+from)
		}
		waitFor(t, fmt.Sprintf("of %d traces the connector counts", len(sent)), got.list, counted)
		waitFor(t, "Jaeger's graph has", func() []string { return jaeger.graph(t) }, []string{"cart to pay: 7", "shop to cart: 13"})
		// As the collector's servicegraph connector makes an edge.
		if pairs, want := jaeger.pairs(t), []string{"cart to pay: 7, 2 failed", "shop to cart: 13, 8 failed"}; !slices.Equal(pairs, want) {
			t.Errorf("clients' spans with a server's span in them are %q, want %q", pairs, want)
		}
	}
}

// counting is the configuration of a collector that counts calls, and sends spans on.
const counting = `
connectors:
  span_metrics:
    metrics_flush_interval: 100ms
    histogram: {disable: true}
    exclude_dimensions: [span.name]
    dimensions: [{name: error.type}]
    events: {enabled: true, dimensions: [{name: exception.type}]}
exporters:
  otlp_http/traces: {endpoint: "http://%s"}
  otlp_http/metrics: {endpoint: %q, encoding: json, compression: none}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [otlp_http/traces, span_metrics]}
    metrics: {receivers: [span_metrics], exporters: [otlp_http/metrics]}
`

// counted are its counts of the shop's requests.
var counted = []string{
	"calls: shop internal: 15",
	"calls: shop client: 5",
	"calls: shop client error 404: 2",
	"calls: shop client error 502: 2",
	"calls: shop client error 503: 3",
	"calls: shop client error *errors.errorString: 1", // the cart panicked
	"calls: shop client error *net.OpError: 2",
	"calls: cart server: 7",
	"calls: cart server error 502: 2",
	"calls: cart server error 503: 3",
	"calls: cart server error panic: 1",
	"calls: cart client: 5",
	"calls: cart client error INTERNAL: 2",
	"calls: pay server: 5",
	"calls: pay server error INTERNAL: 2",
	"events: shop client error *errors.errorString: 1",
	"events: shop client error *net.OpError: 2",
}

// run runs a command.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
}

// waitFor waits until a list is the one that is wanted.
func waitFor(t *testing.T, what string, list func() []string, want []string) {
	t.Helper()
	want = slices.Sorted(slices.Values(want))
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		got := list()
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// metrics takes in what a collector sends: sums since it began.
type metrics struct {
	mu   sync.Mutex
	sums map[string]int64
}

func (m *metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ResourceMetrics []struct {
			ScopeMetrics []struct {
				Metrics []struct {
					Name string
					Sum  struct {
						DataPoints []struct {
							AsInt      string
							Attributes []struct {
								Key   string
								Value struct{ StringValue string }
							}
						}
					}
				}
			}
		}
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := map[string]int64{}
	for _, r := range request.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, x := range s.Metrics {
				for _, p := range x.Sum.DataPoints {
					of := map[string]string{}
					for _, a := range p.Attributes {
						of[a.Key] = a.Value.StringValue
					}
					text := strings.TrimPrefix(x.Name, "traces.span.metrics.") + ": " + of["service.name"] + " " + strings.ToLower(strings.TrimPrefix(of["span.kind"], "SPAN_KIND_"))
					if of["status.code"] == "STATUS_CODE_ERROR" {
						text += " error"
					}
					for _, key := range []string{"error.type", "exception.type"} {
						if v := of[key]; v != "" && !strings.HasSuffix(text, " "+v) {
							text += " " + v
						}
					}
					n, _ := strconv.ParseInt(p.AsInt, 10, 64)
					sums[text] += n
				}
			}
		}
	}
	if m.sums == nil {
		m.sums = map[string]int64{}
	}
	maps.Copy(m.sums, sums)
}

func (m *metrics) list() (list []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for what, n := range m.sums {
		list = append(list, fmt.Sprintf("%s: %d", what, n))
	}
	return list
}

// graph returns the number of calls between services, from Jaeger.
func (j *jaeger) graph(t *testing.T) (list []string) {
	t.Helper()
	var answer struct {
		Data []struct {
			Parent, Child string
			CallCount     int
		}
	}
	j.get(t, fmt.Sprintf("/api/dependencies?endTs=%d&lookback=%d", time.Now().UnixMilli(), time.Hour.Milliseconds()), &answer)
	for _, d := range answer.Data {
		list = append(list, fmt.Sprintf("%s to %s: %d", d.Parent, d.Child, d.CallCount))
	}
	return list
}

// pairs lists the numbers of servers' spans inside clients' spans of another service, and how
// many of these have failed for either.
func (j *jaeger) pairs(t *testing.T) (list []string) {
	t.Helper()
	var answer traces
	j.get(t, "/api/traces?service=shop&limit=1000", &answer)
	calls, failed := map[string]int{}, map[string]int{}
	for _, trace := range answer.Data {
		for _, server := range trace.Spans {
			client := trace.find(server.parent())
			if client == nil || server.tag("span.kind") != "server" || client.tag("span.kind") != "client" {
				continue
			}
			edge := trace.service(client) + " to " + trace.service(&server)
			calls[edge]++
			if client.tag("error") == true || server.tag("error") == true {
				failed[edge]++
			}
		}
	}
	for edge, n := range calls {
		list = append(list, fmt.Sprintf("%s: %d, %d failed", edge, n, failed[edge]))
	}
	slices.Sort(list)
	return list
}
