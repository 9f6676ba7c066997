// Command benchui measures the timeline page in a headless Chromium. It prints
// one table and exits 1 when a must is missed.
//
//	go run ./benchui                      some minutes
//	go run ./benchui -huge                also a trace of 100 M scopes, of 3 GB
//	go run ./benchui -o ../bench/results  also write the table to ui-<date>-<machine>.txt
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

// bench is how the measuring is done.
type bench struct {
	dir      string
	tool     tool.Tool
	chromium *browser.Browser
	report   report
}

func main() {
	traces.Main()
	var (
		dir    = flag.String("dir", "", "write traces below this `directory` (default: the system's for temporary files)")
		huge   = flag.Bool("huge", false, "also measure serve on 100 M scopes")
		only   = flag.String("run", "", "measure only the groups whose name matches this `regexp`")
		output = flag.String("o", "", "also write the table to this `file`, or to one named by date and machine in this directory")
	)
	flag.Parse()
	if err := run(*dir, *only, *output, *huge); err != nil {
		fmt.Fprintln(os.Stderr, "benchui:", err)
		os.Exit(1)
	}
}

func run(dir, only, output string, huge bool) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	b := &bench{report: report{when: time.Now(), load: load()}}
	if b.dir, err = os.MkdirTemp(dir, "scopeview-benchui-"); err != nil {
		return fmt.Errorf("no directory for traces: %w", err)
	}
	defer os.RemoveAll(b.dir)
	if b.tool, err = tool.Build(b.dir, "./cmd/scopeview"); err != nil {
		return err
	}
	if b.chromium, err = browser.Start(); err != nil {
		return err
	}
	defer b.chromium.Close()
	if b.report.browser, err = b.chromium.Version(); err != nil {
		return err
	}
	groups := []struct {
		name    string
		measure func(group string) error
	}{
		{"the HTML of 1 M scopes", b.file},
		{"the HTML of two traces of 1 M scopes", b.pair},
		{"the HTML of 10 M scopes", func(group string) error { return b.flame(group, 10_000_000) }},
		{"the HTML of 10,000 rows", b.rows},
		{"serve on 10 M scopes", func(group string) error { return b.serve(group, 10_000_000, 3, limits{3, 50, 1024}) }},
	}
	if huge {
		groups = append(groups, struct {
			name    string
			measure func(group string) error
		}{"serve on 100 M scopes (goals: 20 s, 2 GiB)", func(group string) error { return b.serve(group, 100_000_000, 1, limits{}) }})
	}
	for _, g := range groups {
		if !match.MatchString(g.name) {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring:", g.name)
		if err := g.measure(g.name); err != nil {
			b.report.rows = append(b.report.rows, row{group: g.name, name: "all of it", err: err})
		}
	}
	fmt.Print(b.report.String())
	if output != "" {
		if err := b.report.save(output); err != nil {
			return err
		}
	}
	if n := b.report.missed(); n > 0 {
		return fmt.Errorf("%d of the musts are missed", n)
	}
	return nil
}

func (b *bench) add(r row) { b.report.rows = append(b.report.rows, r) }

// record makes a trace by a program of that size.
func (b *bench) record(program string, n int) (path string, err error) {
	path = filepath.Join(b.dir, fmt.Sprintf("%s-%d.scope", program, n))
	return path, traces.Record(path, program, n)
}
