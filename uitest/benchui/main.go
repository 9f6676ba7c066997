// Command benchui measures the timeline page in a headless Chromium. It prints
// one table and exits 1 when a must is missed.
//
//	go run ./benchui                      some minutes
//	go run ./benchui -run scopes.of -scopes 1000M -packed   a trace of 31 GB, of which 5 are looked at
//	go run ./benchui -o ../bench/results  also write the table to ui-<date>-<machine>.txt
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/uitest/browser"
	"github.com/scopeview/scopeview/uitest/tool"
	"github.com/scopeview/scopeview/uitest/traces"
)

// bench has the parameters of the measurements.
type bench struct {
	dir      string
	tool     tool.Tool
	chromium *browser.Browser
	pictures string // directory for pictures of the large trace; "": none
	report   report
}

func main() {
	traces.Main()
	var (
		dir    = flag.String("dir", "", "write traces below this `directory` (default: the system's for temporary files)")
		scopes = flag.String("scopes", "100M", "how many `scopes` the large trace has that serve is measured on")
		packed = flag.Bool("packed", false, "pack that trace before")
		looks  = flag.String("pictures", "", "write pictures of the large trace's page into this `directory`")
		only   = flag.String("run", "", "measure only the groups whose name matches this `regexp`")
		output = flag.String("o", "", "also write the table to this `file`, or to one named by date and machine in this directory")
	)
	flag.Parse()
	if err := run(*dir, *only, *output, *scopes, *packed, *looks); err != nil {
		fmt.Fprintln(os.Stderr, "benchui:", err)
		os.Exit(1)
	}
}

func run(dir, only, output, scopes string, packed bool, pictures string) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	large, err := count(scopes)
	if err != nil {
		return fmt.Errorf("-scopes: %w", err)
	}
	b := &bench{pictures: pictures, report: report{when: time.Now(), load: load()}}
	if b.dir, err = os.MkdirTemp(dir, "scopeview-benchui-"); err != nil {
		return fmt.Errorf("no directory for traces: %w", err)
	}
	defer os.RemoveAll(b.dir)
	if b.tool, err = tool.Build(b.dir, "./cmd/scopeview"); err != nil {
		return err
	}
	if b.chromium, err = browser.Start(browser.Windowed); err != nil {
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
		{"tasks in the HTML of 1 M scopes", func(group string) error { return b.fileTasks(group, "many", 1_000_000) }},
		{"tasks in the HTML of 66,000 goroutines with 540,000 states", func(group string) error { return b.fileTasks(group, "serving", 11_000) }},
		{"tasks in the page of 10 M scopes, served", b.servedTasks},
		{"the HTML of 10,000 rows", b.rows},
		{"serve on 10 M scopes", b.serveRecorded},
		{"serve on a trace of " + scopes + " scopes of eight goroutines", func(group string) error { return b.serveLarge(group, large, packed) }},
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

// record records a program of that size.
func (b *bench) record(program string, n int) (path string, err error) {
	path = filepath.Join(b.dir, fmt.Sprintf("%s-%d.scope", program, n))
	return path, traces.Record(path, program, n)
}

// count parses a number such as 100M.
func count(text string) (int64, error) {
	digits, millions := strings.CutSuffix(text, "M")
	n, err := strconv.ParseInt(digits, 10, 64)
	if millions {
		n *= 1e6
	}
	if err != nil || n <= 0 || n > 1e11 {
		return 0, fmt.Errorf("%q is no number of scopes, such as 100M", text)
	}
	return n, nil
}
