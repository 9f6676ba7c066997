package others

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// asked is the trace id of the request that TestTwoServices follows, and asker the span id
// of its sender.
const asked, asker = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// TestTwoServices: a proxy and its server, both other people's programs without changes,
// record one request in both traces, which form one page.
func TestTwoServices(t *testing.T) {
	full(t)
	proxy, server := module(t, "github.com/jpillora/chisel@v1.11.3"), module(t, "github.com/nats-io/nats-server/v2@v2.15.2")
	bin, dir := t.TempDir(), t.TempDir()
	port, monitor, front := free(t), free(t), free(t)
	back, forth := "127.0.0.1:"+monitor, "127.0.0.1:"+front
	proxy.must(proxy.tool, "build", "-buildvcs=false", "-o", bin+"/chisel", ".")
	server.must(server.tool, "build", "-buildvcs=false", "-o", bin+"/nats-server", ".")
	env := append(slices.Clone(proxy.env), "SCOPEVIEW="+dir+"/", "SCOPEVIEW_LIMIT=64M", "SCOPEVIEW_PROPAGATE=1")
	endServer := begin(t, env, bin+"/nats-server", "-a", "127.0.0.1", "-p", port, "-m", monitor)
	endProxy := begin(t, env, bin+"/chisel", "server", "--host", "127.0.0.1", "--port", front, "--backend", "http://"+back)
	for _, address := range []string{back, forth} {
		answers(t, "http://"+address+"/healthz")
	}
	q, err := http.NewRequest("GET", "http://"+forth+"/varz", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Traceparent", "00-"+asked+"-"+asker+"-01")
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 200 {
		t.Fatal(r.Status)
	}
	endProxy()
	endServer()

	both := traces(t, dir, 2)
	merged := filepath.Join(dir, "both.scope")
	proxy.must(proxy.tool, append([]string{"merge", "-o", merged}, both...)...)
	of := map[string]string{} // program by the id of its scope
	for _, path := range both {
		program, _, _ := strings.Cut(filepath.Base(path), "-20")
		for _, s := range linked(t, proxy.must(proxy.tool, "export", "csv", path).out) {
			of[s.span] = program
		}
	}
	list := linked(t, proxy.must(proxy.tool, "export", "csv", merged).out)
	var chain []string
	for parent := asker; ; {
		i := slices.IndexFunc(list, func(s linkedScope) bool { return s.trace == asked && s.parent == parent })
		if i < 0 {
			break
		}
		parent = list[i].span
		chain = append(chain, of[parent]+": "+list[i].name)
	}
	if want := []string{"chisel: GET /varz", "chisel: HTTP GET " + back, "nats-server: GET /varz"}; !slices.Equal(chain, want) {
		t.Errorf("the request goes over %q, want %q; all that is linked: %v", chain, want, list)
	}
	info := proxy.must(proxy.tool, "info", merged).out
	for _, program := range []string{"chisel", "nats-server"} {
		if !strings.Contains(info, program) {
			t.Errorf("the merged trace does not name %s:\n%s", program, info)
		}
	}
	proxy.must(proxy.tool, "html", merged, "-o", filepath.Join(dir, "both.html"))
}

// begin starts a program, and returns a function that interrupts it and waits for its end.
func begin(t *testing.T, env []string, program string, args ...string) (end func()) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return func() {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // with any status, as it was interrupted
	}
}

// answers waits until the server responds.
func answers(t *testing.T, url string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if r, err := http.Get(url); err == nil {
			r.Body.Close()
			if r.StatusCode == 200 {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal(url, " does not answer")
		}
	}
}

// linkedScope is a scope with the ids of its link.
type linkedScope struct{ name, trace, span, parent string }

// linked returns the scopes of a trace's CSV that have a link.
func linked(t *testing.T, text string) (list []linkedScope) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	name, args := slices.Index(rows[0], "name"), slices.Index(rows[0], "args")
	for _, row := range rows[1:] {
		var ids struct {
			Trace  string `json:"trace_id"`
			Span   string `json:"span_id"`
			Parent string `json:"parent_id"`
		}
		if row[args] == "" {
			continue
		}
		if err := json.Unmarshal([]byte(row[args]), &ids); err != nil {
			t.Fatalf("%s: %v", row[args], err)
		}
		if ids.Trace != "" {
			list = append(list, linkedScope{row[name], ids.Trace, ids.Span, ids.Parent})
		}
	}
	return list
}
