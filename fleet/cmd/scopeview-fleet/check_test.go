package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFleetCheck runs the commands of "Try it" in docs/fleet.md unchanged, except for the
// directory, the port and the printed times.
func TestFleetCheck(t *testing.T) {
	if os.Getenv("SCOPEVIEW_FLEET") != "full" {
		t.Skip("it takes two minutes; make fleet-check runs it")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(doc), "\n## Try it\n")
	if !ok {
		t.Fatal("docs/fleet.md has no section Try it")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```\n")
	port, dir := freePort(t), t.TempDir()
	var script strings.Builder
	// What runs in the background ends with the script.
	script.WriteString("set -eu -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\nTIMEFORMAT='TIME %R'\n")
	asked := 0
	for i := 1; i < len(blocks); i += 2 {
		block := strings.NewReplacer("/tmp/fleet", dir, ":9000", ":"+port, "make fleet deps-fleet", "true").Replace(blocks[i])
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "scopeview sql ") {
				line = "time " + line
				asked++
			}
			if strings.HasPrefix(line, "for t in ") {
				line = "time " + line
			}
			script.WriteString(line)
		}
	}
	if asked != 5 {
		t.Fatalf("docs/fleet.md asks %d questions", asked)
	}
	cmd := exec.Command("bash", "-c", script.String())
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+dir)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	for _, want := range []string{"price.total", "stock.mu", "stock.count", "slower", "GET /buy/{item}"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing printed has %q in it", want)
		}
	}
	var times []float64
	for line := range strings.Lines(errs.String()) {
		var s float64
		if n, _ := fmt.Sscanf(line, "TIME %g", &s); n == 1 {
			times = append(times, s)
		}
	}
	if len(times) != asked+1 {
		t.Fatalf("%d times: %s", len(times), errs.String())
	}
	sum := 0.0
	for _, s := range times[1:] {
		sum += s
	}
	if sum > 10 {
		t.Errorf("five questions took %.1f s", sum)
	}
	traces, _ := filepath.Glob(filepath.Join(dir, "sets", "*", "*.scope"))
	if len(traces) < 50 {
		t.Errorf("%d traces", len(traces))
	}
	t.Logf("%d traces exported in %.1f s; five questions in %.1f s: %v\n%s", len(traces), times[0], sum, times[1:], out.String())
}

// freePort returns a port of this machine that was free a moment ago.
func freePort(t *testing.T) string {
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
