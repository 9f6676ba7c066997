package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// unchosen lists the commands that show contents of traces without --process, or --object, with the
// reasons.
var unchosen = map[string]struct{ process, object string }{
	"advise":         {"advice is of one process: the raw file has no others", "it shows no samples"},
	"info":           {"it is about the file, of which it lists the processes", "it shows no samples"},
	"mcp":            {"its tools have the parameter process", "its tool source names the function"},
	"stacks":         {"calls are counted in a process's own trace, and merging leaves them there", "it shows counts of calls, by their callers"},
	"export gotrace": {"it writes Go's bytes, which are of one process", "it shows no samples"},
	"top":            {"", "it shows no samples"},
	"tail":           {"", "it shows no samples"},
	"doctor":         {"", "findings are about goroutines"},
	"states":         {"", "it shows no samples"},
	"waits":          {"", "it shows no samples"},
	"export csv":     {"", "it has no samples: scopeview profile --by sample --format csv has"},
	"export otlp":    {"", "spans have no samples"},
	"export parquet": {"the tables of a fleet have a column pid", "the tables of a fleet have a column object"},
	"scale":          {"it runs a program", "it runs a program"},
}

// leafCommands returns the commands below c that have no subcommands, by name.
func leafCommands(c *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{}
	for _, below := range c.Commands() {
		if below.HasSubCommands() {
			for name, x := range leafCommands(below) {
				all[name] = x
			}
		} else {
			_, name, _ := strings.Cut(below.CommandPath(), " ")
			all[name] = below
		}
	}
	return all
}

// TestEveryViewChoosesProcessesAndObjects: every view has --process and --object, or a reason for
// the lack.
func TestEveryViewChoosesProcessesAndObjects(t *testing.T) {
	for name, c := range leafCommands(newRoot(&streams{})) {
		group := c
		for group.Parent().HasParent() {
			group = group.Parent()
		}
		if g := group.GroupID; g != "look" && g != "why" && g != "where" && g != "export" {
			continue // commands that make profiles for compilers have --executable
		}
		for flag, why := range map[string]string{"process": unchosen[name].process, "object": unchosen[name].object} {
			f := c.Flags().Lookup(flag)
			switch {
			case f == nil && why == "":
				t.Errorf("%s has no --%s: add the flag, or the reason to unchosen", name, flag)
			case f != nil && why != "":
				t.Errorf("%s has --%s, and is said not to have it: %s", name, flag, why)
			}
		}
	}
}

// shownPage is the head of a page's data.
type shownPage struct {
	Meta struct {
		Scopes int64
		Banner []struct{ Text string }
	}
	Samples struct{ Funcs []string }
}

func (p *shownPage) says(text string) bool {
	for _, b := range p.Meta.Banner {
		if strings.Contains(b.Text, text) {
			return true
		}
	}
	return false
}

// pageData decodes the head of a container.
func pageData(t *testing.T, packed []byte) (p shownPage) {
	t.Helper()
	raw, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil || len(raw) < 8 {
		t.Fatalf("no container: %v", err)
	}
	if err := json.Unmarshal(raw[8:8+binary.LittleEndian.Uint32(raw[4:])], &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// pages returns the heads of html's file and of serve's page for a trace.
func pages(t *testing.T, args ...string) map[string]shownPage {
	t.Helper()
	r := scopeview(append([]string{"html"}, args...)...)
	_, data, ok := strings.Cut(r.out, `id="data"`)
	_, data, _ = strings.Cut(data, ">")
	data, _, _ = strings.Cut(data, "<")
	packed, err := base64.StdEncoding.DecodeString(data)
	if err != nil || !ok {
		t.Fatalf("%v: %v; %s", args, err, r.err)
	}
	v := serve(t, args...)
	v.get(v.url)
	base, _, _ := strings.Cut(v.url, "/?")
	status, whole := v.get(base + "/t/0/api/whole")
	_, samples := v.get(base + "/t/0/api/samples")
	if status != 200 {
		t.Fatalf("%v: %d %s", args, status, whole)
	}
	served := pageData(t, []byte(whole))
	served.Samples = pageData(t, []byte(samples)).Samples
	v.ends()
	return map[string]shownPage{"html": pageData(t, packed), "serve": served}
}

// TestPagesOfChosenProcessesAndObjects: a page has the selected data, and says so; html and serve
// agree.
func TestPagesOfChosenProcessesAndObjects(t *testing.T) {
	scriptTrace(t, "process")
	if r := scopeview("merge", "api.scope", "db.scope", "-o", "all.scope"); r.code != 0 {
		t.Fatal(r)
	}
	for _, c := range []struct {
		args   []string
		scopes int64
		funcs  string
		says   string
	}{
		{[]string{"all.scope"}, 5, "", ""},
		{[]string{"all.scope", "--process", "api"}, 2, "", "processes api"},
		{[]string{"all.scope", "--process", "101"}, 3, "", "processes 101"},
		{[]string{"sh.scope"}, 0, "main.work check main.other", ""},
		{[]string{"sh.scope", "--process", "b"}, 0, "main.other", "processes b"},
		{[]string{"sh.scope", "--object", "a"}, 0, "main.work", "samples of the load objects a"},
	} {
		for view, p := range pages(t, c.args...) {
			if p.Meta.Scopes != c.scopes || c.says != "" && !p.says(c.says) || c.says == "" && p.says("a part of the trace") {
				t.Errorf("%s %v: %d scopes, %v", view, c.args, p.Meta.Scopes, p.Meta.Banner)
			}
			if got := strings.TrimSpace(strings.Join(p.Samples.Funcs, " ")); got != c.funcs {
				t.Errorf("%s %v: functions %s, want %s", view, c.args, got, c.funcs)
			}
		}
	}
	v := serve(t, "all.scope", "--process", "nobody")
	v.get(v.url)
	base, _, _ := strings.Cut(v.url, "/?")
	if status, text := v.get(base + "/t/0/api/whole"); status == 200 || !strings.Contains(text, "no such process; it has: 100 api, 101 db") {
		t.Errorf("%d %s", status, text)
	}
	v.ends()
}

// TestPerfettoOfChosenProcesses: perfetto's output for a process has nothing of the others.
func TestPerfettoOfChosenProcesses(t *testing.T) {
	scriptTrace(t, "process")
	if r := scopeview("merge", "api.scope", "db.scope", "-o", "all.scope"); r.code != 0 {
		t.Fatal(r)
	}
	for _, c := range []struct{ args, has, lacks string }{
		{"all.scope --process api", "main.small", "db.mu"}, {"all.scope --process db", "db.mu", "main.small"},
		{"sh.scope --process a", "check", "main.other"}, {"sh.scope --object /x/b", "main.other", "main.work"},
	} {
		r := scopeview(append(append([]string{"export perfetto"}, strings.Fields(c.args)...), "-o", "x.pftrace")...)
		b, err := os.ReadFile("x.pftrace")
		if r.code != 0 || err != nil || !bytes.Contains(b, []byte(c.has)) || bytes.Contains(b, []byte(c.lacks)) {
			t.Errorf("%s: %v %v; want %s and no %s", c.args, r, err, c.has, c.lacks)
		}
	}
}
