package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		about string
		row   row
		want  string
	}{
		{"below the must", row{value: 1, must: 2}, "ok"},
		{"at it", row{value: 2, must: 2}, "ok"},
		{"above it", row{value: 2.0001, must: 2}, "MISSED"},
		{"without one", row{value: 1e9}, ""},
		{"not measured", row{must: 2, err: errors.New("no browser")}, "FAILED"},
		{"not measured, without a must", row{err: errors.New("no browser")}, "FAILED"},
	} {
		if got := test.row.verdict(); got != test.want {
			t.Errorf("%s: %q, want %q", test.about, got, test.want)
		}
	}
}

func TestMissed(t *testing.T) {
	r := report{rows: []row{{value: 1, must: 2}, {value: 3, must: 2}, {value: 3}, {err: errors.New("x")}}}
	if n := r.missed(); n != 2 {
		t.Errorf("%d are missed, want 2", n)
	}
	if n := new(report).missed(); n != 0 {
		t.Errorf("of nothing %d are missed", n)
	}
}

func TestAmount(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00 s", 1.234: "1.23 s", 9.99: "9.99 s", 10: "10.0 s", 99.94: "99.9 s", 100: "100 s", 1023.6: "1024 s"} {
		if got := (row{unit: "s"}).amount(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// TestTable: values end, names begin at the same place, and a group is named once.
func TestTable(t *testing.T) {
	r := report{when: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), load: "0.50", browser: "Chromium/1", rows: []row{
		{group: "a page", name: "size", value: 9.5, must: 12, unit: "MB"},
		{group: "a page", name: "größer", value: 120, must: 100, unit: "ms", note: "worst 130"},
		{group: "a server", name: "memory", value: 12.34, unit: "MiB"},
		{group: "a server", name: "all of it", err: errors.New("it did not start")},
	}}
	head, table, _ := strings.Cut(r.String(), "load before the run 0.50\n")
	if !strings.HasPrefix(head, "scopeview timeline page, 2026-03-14 15:09 UTC\n") || !strings.Contains(head, "Chromium/1 without a GPU") {
		t.Errorf("the head is %q", head)
	}
	want := `
                value       must  verdict
a page
  size        9.50 MB  ≤ 12.0 MB  ok
  größer       120 ms   ≤ 100 ms  MISSED   worst 130
a server
  memory     12.3 MiB
  all of it                       FAILED   it did not start
`
	if table != want[1:] {
		t.Errorf("the table is\n%swant\n%s", table, want[1:])
	}
}

// TestSave: a file gets the name that is given, in a directory one by date and
// machine.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	r := report{when: time.Date(2026, 3, 14, 23, 30, 0, 0, time.FixedZone("", -3600))}
	for _, path := range []string{dir, filepath.Join(dir, "mine.txt")} {
		if err := r.save(path); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(dir)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for i, name := range []string{`^mine\.txt$`, `^ui-2026-03-15-[\pL\d-]+-\d+-cpu\.txt$`} {
		if !regexp.MustCompile(name).MatchString(list[i].Name()) {
			t.Errorf("%s does not match %s", list[i].Name(), name)
		}
		if b, err := os.ReadFile(filepath.Join(dir, list[i].Name())); err != nil || string(b) != r.String() {
			t.Errorf("%s holds %q, %v", list[i].Name(), b, err)
		}
	}
	if err := r.save(filepath.Join(dir, "none", "x.txt")); err == nil {
		t.Error("a report was saved where there is no directory")
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"AMD EPYC 7763 64-Core Processor 2 cpu": "amd-epyc-7763-64-core-processor-2-cpu", "Intel(R) Xeon(R) @ 2.80GHz": "intel-r-xeon-r-2-80ghz", "//": "",
	} {
		if got := slug(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
