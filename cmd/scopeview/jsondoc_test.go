package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/ab"
	"github.com/scopeview/scopeview/internal/report/annotate"
	reportautofdo "github.com/scopeview/scopeview/internal/report/autofdo"
	"github.com/scopeview/scopeview/internal/report/compare"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/report/info"
	"github.com/scopeview/scopeview/internal/report/membench"
	reportpgo "github.com/scopeview/scopeview/internal/report/pgo"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/report/scale"
	"github.com/scopeview/scopeview/internal/report/stacks"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/report/top"
	"github.com/scopeview/scopeview/internal/report/verify"
	"github.com/scopeview/scopeview/internal/report/waits"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// documents returns what the commands with --json print, of a trace that has everything.
func documents(t *testing.T) map[string]any {
	t.Helper()
	scriptTrace(t, "states")
	tr, _, err := openTrace(t.Context(), "all.scope")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	docs := map[string]any{}
	add := func(name string, r *report.Report, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		docs[name] = r.Document
	}
	var all analysis.Selection
	r, err := top.Of(t.Context(), tr, &all, "total", false)
	add("top", r, err)
	r, err = waits.Of(t.Context(), tr, &all, false)
	add("waits", r, err)
	r, err = states.Of(t.Context(), tr, &all, analysis.ByName, false)
	add("states", r, err)
	r, err = info.Of(t.Context(), tr, &all, "", "")
	add("info", r, err)
	add("stacks", &stacks.Of(tr, &all, 0, 0).Report, nil)
	run, err := compare.Read(t.Context(), &top.View, tr, "all.scope", &all)
	if err != nil {
		t.Fatal(err)
	}
	both := []compare.Run{run}
	add("compare", compare.Of(both, both, "top", &top.View, "total").Report(), nil)
	add("doctor", reportdoctor.Of(tr, "", &doctor.Report{}, nil), nil)
	add("verify", verify.Of("", nil), nil)
	add("check-hooks", (&report.Report{Document: &hookDocument{Hooks: []hookState{{}}}}), nil)
	add("advise", &report.Report{Document: &adviseDocument{}}, nil)
	add("calibrate", &report.Report{Document: &calibrationDocument{}}, nil)
	add("membench", (&membench.Result{}).Report(), nil)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range pgoDocuments() {
		add(name, r, nil)
	}
	for name, r := range profiles(t, tr) {
		add(name, &r.Report, nil)
	}
	r, err = scale.Of(t.Context(), scale.Options{Procs: []int{1}, Runs: 1, Command: []string{self, "-test.run", "NONE"}})
	add("scale", r, err)
	return docs
}

// pgoDocuments returns what the commands below pgo and autofdo show.
func pgoDocuments() map[string]*report.Report {
	p, e := pgo.New(pgo.Samples), &pgo.Edges{}
	return map[string]*report.Report{
		"pgo.show": reportpgo.Show(p, e, pgo.HotShare), "pgo.overlap": reportpgo.Overlap("", "", e, e),
		"pgo.check": reportpgo.Check("", &source.Report{}, nil), "pgo.explain": reportpgo.Explain(&explain.Report{}), "pgo.ab": (&ab.Result{}).Report(),
		"autofdo.show": reportautofdo.Show(autofdo.New()), "autofdo.overlap": reportautofdo.Overlap("", "", &autofdo.Similarity{}),
	}
}

// profiles returns what the commands show that show samples.
func profiles(t *testing.T, tr *trace.Trace) map[string]*profile.Report {
	t.Helper()
	p, err := samples.OfTrace(t.Context(), tr, &samples.Selection{Selection: &analysis.Selection{}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := profile.NewView(p, tr, "", "", glob.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	callers, err := profile.Callers(v, samples.TotalName, nil)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	code := &annotate.Code{Hot: 1}
	code.UseBinary(p, self, "")
	const function = "github.com/scopeview/scopeview/cmd/scopeview.newRoot"
	source, err := annotate.Source(t.Context(), v, code, function)
	if err != nil {
		t.Fatal(err)
	}
	disasm, err := annotate.Disasm(t.Context(), v, code, function)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*profile.Report{
		"source": source, "disasm": disasm,
		"functions": profile.Rows(v, profile.Functions), "lines": profile.Rows(v, profile.Lines), "objects": profile.Rows(v, profile.Objects),
		"goroutines": profile.Rows(v, profile.Goroutines), "threads": profile.Rows(v, profile.Threads),
		"callers": callers, "tree": profile.Tree(v, 0), "samples": profile.Samples(v, nil), "header": profile.Header(v),
	}
}

// TestJSONDocuments: each command that has --json has a section in docs/json.md, with a
// row for each key of its document: no more, no less, of the types that they have.
func TestJSONDocuments(t *testing.T) {
	described, documents := describedJSON(t), documents(t)
	commands := withJSON(newRoot(&streams{}))
	slices.Sort(commands)
	for _, list := range [][]string{slices.Sorted(maps.Keys(documents)), slices.Sorted(maps.Keys(described))} {
		if !slices.Equal(commands, list) {
			t.Fatalf("the commands with --json are %q, and here %q", commands, list)
		}
	}
	for _, name := range commands {
		want := map[string]string{"schema": "string"}
		keysOf(want, "", reflect.Indirect(reflect.ValueOf(documents[name])).Type())
		for key, typ := range want {
			switch row, ok := described[name][key]; {
			case !ok:
				t.Errorf("docs/json.md, %s: %s is missing: %s", name, key, typ)
			case row.typ != typ:
				t.Errorf("docs/json.md, %s: %s is of type %q, and should be %q", name, key, row.typ, typ)
			}
			if strings.ToLower(key) != key {
				t.Errorf("%s: %s is not in small letters", name, key)
			}
		}
		for key, row := range described[name] {
			if want[key] == "" {
				t.Errorf("docs/json.md, %s: there is no %s", name, key)
			}
			number := strings.HasPrefix(row.typ, "int") || strings.HasPrefix(row.typ, "float") || strings.HasPrefix(row.typ, "number")
			switch {
			case number != (row.unit != ""):
				t.Errorf("docs/json.md, %s: %s is a %s and its unit is %q", name, key, row.typ, row.unit)
			case number && strings.HasSuffix(strings.TrimRight(key, ".*[]"), "_ns") && row.unit != "ns":
				t.Errorf("docs/json.md, %s: the unit of %s is %s", name, key, row.unit)
			}
		}
	}
}

// withJSON returns what the documents of the commands below one are called.
func withJSON(cmd *cobra.Command) (names []string) {
	if cmd.Flags().Lookup("json") != nil {
		names = append(names, documentName(cmd))
	}
	for _, c := range cmd.Commands() {
		names = append(names, withJSON(c)...)
	}
	return names
}

// TestJSONIsAsDescribed: what the commands print of all traces of the scripts has values of
// the types that docs/json.md says.
func TestJSONIsAsDescribed(t *testing.T) {
	described := describedJSON(t)
	traces, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	scripts, _ := filepath.Glob(filepath.Join(traces, "*.txtar"))
	t.Chdir(t.TempDir())
	printed := 0
	for _, script := range scripts {
		_, parts := readScript(t, script)
		for _, p := range parts {
			if !strings.HasSuffix(p.head, ".scope") || strings.HasPrefix(p.head, "run ") {
				continue
			}
			b, err := text.Assemble(strings.NewReader(p.text))
			if err != nil {
				continue // the script is about that
			}
			if err := os.WriteFile("x.scope", b, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"compare", "doctor", "functions", "goroutines", "header", "info", "lines", "objects", "samples", "stacks", "states", "threads", "top", "tree", "verify", "waits"} {
				args := []string{name, "x.scope", "--json"}
				if name == "compare" {
					args = append(args, "x.scope")
				}
				r := call(args...)
				if r.out == "" {
					continue // no such thing in it
				}
				var doc map[string]any
				if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
					t.Fatalf("%s of %s in %s: %v", name, p.head, script, err)
				}
				if doc["schema"] != report.Schema(name) {
					t.Errorf("%s: schema is %v", name, doc["schema"])
				}
				printed++
				walkJSON(t, name, described[name], "", doc)
			}
		}
	}
	if printed < 50 {
		t.Errorf("only %d documents were printed", printed)
	}
}

// keysOf lists the keys of a type's documents with their types, as docs/json.md has them:
// x[] is an element of a list, x.* a value of an object whose keys are data.
func keysOf(keys map[string]string, path string, typ reflect.Type) {
	null := ""
	if typ.Kind() == reflect.Pointer {
		typ, null = typ.Elem(), " or null"
	}
	switch {
	case typ == reflect.TypeFor[time.Time]():
		keys[path] = "time" + null
	case typ == reflect.TypeFor[doctor.Gain]():
		keys[path] = "float or null"
	case typ == reflect.TypeFor[json.Number](), typ.Kind() == reflect.Interface:
		keys[path] = "number or string"
	case typ.Kind() == reflect.Struct:
		if null != "" {
			keys[path] = "object" + null
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			tag, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				inner := f.Type
				if inner.Kind() == reflect.Pointer {
					inner = inner.Elem()
				}
				keysOf(keys, path, inner)
				continue
			}
			key := strings.TrimPrefix(path+"."+tag, ".")
			keysOf(keys, key, f.Type)
			if omit == "omitempty" {
				typ := cmp.Or(keys[key], "object")
				keys[key] = strings.TrimSuffix(typ, " or null") + ", may be absent"
			}
		}
	case typ.Kind() == reflect.Slice:
		keysOf(keys, path+"[]", typ.Elem())
	case typ.Kind() == reflect.Func: // a stream
		keysOf(keys, path+"[]", typ.In(0).In(0))
	case typ.Kind() == reflect.Map:
		keysOf(keys, path+".*", typ.Elem())
	case typ.Kind() == reflect.String:
		keys[path] = "string" + null
	case typ.Kind() == reflect.Bool:
		keys[path] = "bool" + null
	case typ.Kind() == reflect.Float64:
		keys[path] = "float" + null
	default:
		keys[path] = "int" + null
	}
}

// walkJSON checks a value that was printed, and what is in it.
func walkJSON(t *testing.T, command string, rows map[string]jsonRow, path string, v any) {
	t.Helper()
	row, leaf := rows[path]
	bad := func() { t.Errorf("%s: %s is %v, and docs/json.md says %q", command, path, v, row.typ) }
	switch v := v.(type) {
	case map[string]any:
		if leaf && !strings.HasPrefix(row.typ, "object") {
			bad()
		}
		data := slices.ContainsFunc(slices.Collect(maps.Keys(rows)), func(key string) bool {
			return key == path+".*" || strings.HasPrefix(key, path+".*.")
		})
		for key, inner := range v {
			at := strings.TrimPrefix(path+"."+key, ".")
			if data {
				at = path + ".*"
			}
			walkJSON(t, command, rows, at, inner)
		}
	case []any:
		for _, inner := range v {
			walkJSON(t, command, rows, path+"[]", inner)
		}
	case nil:
		if path != "" && !strings.HasSuffix(row.typ, "or null") {
			bad()
		}
	case string:
		if !strings.HasPrefix(row.typ, "string") && !strings.HasPrefix(row.typ, "time") && row.typ != "number or string" {
			bad()
		}
	case bool:
		if !strings.HasPrefix(row.typ, "bool") {
			bad()
		}
	case float64:
		switch {
		case strings.HasPrefix(row.typ, "float"), row.typ == "number or string":
		case strings.HasPrefix(row.typ, "int") && v == float64(int64(v)):
		default:
			bad()
		}
	}
}

// jsonRow is a key in docs/json.md.
type jsonRow struct{ typ, unit string }

var (
	jsonHead = regexp.MustCompile(`(?m)^## scopeview ([\w, -]+)$`)
	jsonLine = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]*) \\| .*\\|$")
)

// describedJSON reads docs/json.md: by command, what it has of each key.
func describedJSON(t *testing.T) map[string]map[string]jsonRow {
	t.Helper()
	b, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	heads := jsonHead.FindAllStringSubmatchIndex(string(b), -1)
	all := map[string]map[string]jsonRow{}
	for i, h := range heads {
		end := len(b)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		rows := map[string]jsonRow{}
		section, _, _ := strings.Cut(string(b[h[1]:end]), "\n## ") // of what no command prints
		for _, m := range jsonLine.FindAllStringSubmatch(section, -1) {
			rows[m[1]] = jsonRow{strings.TrimSpace(m[2]), strings.TrimSpace(m[3])}
		}
		for name := range strings.SplitSeq(string(b[h[2]:h[3]]), ", ") {
			all[strings.ReplaceAll(name, " ", ".")] = rows
		}
	}
	return all
}
