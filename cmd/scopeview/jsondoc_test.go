package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/glob"
	"github.com/scopeview/scopeview/internal/live"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/pgo/source"
	"github.com/scopeview/scopeview/internal/query"
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
	"github.com/scopeview/scopeview/internal/report/sql"
	"github.com/scopeview/scopeview/internal/report/stacks"
	"github.com/scopeview/scopeview/internal/report/states"
	"github.com/scopeview/scopeview/internal/report/top"
	"github.com/scopeview/scopeview/internal/report/verify"
	"github.com/scopeview/scopeview/internal/report/waits"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// documents returns the documents of the commands with --json, for a trace that has everything.
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
	q, err := query.New(t.Context(), tr, &all, "SELECT * FROM records")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	add("sql", &sql.Of(tr, q).Report, nil)
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

// pgoDocuments returns the documents of the commands below pgo and autofdo.
func pgoDocuments() map[string]*report.Report {
	p, e := pgo.New(pgo.Samples), &pgo.Edges{}
	return map[string]*report.Report{
		"pgo.show": reportpgo.Show(p, e, pgo.HotShare), "pgo.overlap": reportpgo.Overlap("", "", e, e),
		"pgo.check": reportpgo.Check("", &source.Report{}, nil), "pgo.explain": reportpgo.Explain(&explain.Report{}), "pgo.ab": (&ab.Result{}).Report(),
		"autofdo.show": reportautofdo.Show(autofdo.New()), "autofdo.overlap": reportautofdo.Overlap("", "", &autofdo.Similarity{}),
	}
}

// profiles returns the documents of the commands that show samples.
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
	const function = "github.com/scopeview/scopeview/cmd/scopeview.openAny"
	source, err := annotate.Source(t.Context(), v, code, function)
	if err != nil {
		t.Fatal(err)
	}
	disasm, err := annotate.Disasm(t.Context(), v, code, function)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*profile.Report{"source": source, "disasm": disasm, "callers": callers}
	for _, kind := range profile.Kinds {
		all["profile."+kind.By] = kind.Of(v)
	}
	return all
}

// TestJSONDocuments: each command with --json has a section in docs/json.md, whose table is
// generated from the tags of its document. With -update the tables are written.
func TestJSONDocuments(t *testing.T) {
	path, err := filepath.Abs("../../docs/json.md") // documents changes the directory
	if err != nil {
		t.Fatal(err)
	}
	b := filetest.Read(t, path)
	page, documents := string(b), documents(t)
	withDocument := withJSON()
	slices.Sort(withDocument)
	want, described := page, []string{}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		keys := documentKeys(documents[name])
		checkKeys(t, name, keys)
		at, schemas := jsonSection(page, name)
		if at == "" {
			t.Fatalf("docs/json.md has no section of %s", name)
		}
		described = append(described, name)
		want = strings.Replace(want, at, withTable(at, schemas, keys), 1)
	}
	if !slices.Equal(withDocument, described) {
		t.Fatalf("the commands with --json are %q, and here %q", withDocument, described)
	}
	for head, typ := range map[string]reflect.Type{"What all documents of a trace begin with": reflect.TypeFor[report.Kept](), "Frames": reflect.TypeFor[report.Frame](),
		"The list of a directory": reflect.TypeFor[live.List]()} {
		_, at, _ := strings.Cut(page, "## "+head+"\n")
		at, _, _ = strings.Cut(at, "\n## ")
		want = strings.Replace(want, at, withTable(at, nil, fieldKeys("", typ)), 1)
	}
	if want == page {
		return
	}
	if !*update {
		t.Fatal("docs/json.md is not what the documents' tags say: go test ./cmd/scopeview -run TestJSONDocuments -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkKeys: numbers have units, times are nanoseconds, and keys are in lower case.
func checkKeys(t *testing.T, name string, keys []jsonKey) {
	t.Helper()
	for _, k := range keys {
		number := strings.HasPrefix(k.typ, "int") || strings.HasPrefix(k.typ, "float") || strings.HasPrefix(k.typ, "number")
		switch {
		case strings.ToLower(k.path) != k.path:
			t.Errorf("%s: %s is not in small letters", name, k.path)
		case number != (k.unit != ""):
			t.Errorf("%s: %s is of type %s, and its unit is %q", name, k.path, k.typ, k.unit)
		case number && strings.HasSuffix(strings.TrimRight(k.path, ".*[]"), "_ns") && k.unit != "ns":
			t.Errorf("%s: the unit of %s is %s", name, k.path, k.unit)
		}
	}
}

var jsonLines = regexp.MustCompile(`(?m)^\| key \|.*\n(?:\|.*\n)*`)

// withTable returns a section with its table replaced by that of a document.
func withTable(section string, schemas []string, keys []jsonKey) string {
	code := regexp.MustCompile(`'([^' ](?:[^']*[^' ])?)'(\W|$)`)
	text := func(s string) string {
		return code.ReplaceAllString(strings.ReplaceAll(s, "|", "\\|"), "`$1`$2")
	}
	var b strings.Builder
	b.WriteString("| key | type | unit | meaning |\n|---|---|---|---|\n")
	if schemas != nil {
		fmt.Fprintf(&b, "| `schema` | string |  | `%s` |\n", strings.Join(schemas, "`, `"))
	}
	for _, k := range keys {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.path, k.typ, text(k.unit), text(k.says))
	}
	was := jsonLines.FindString(section)
	if was == "" { // a new section
		return section + "\n" + b.String()
	}
	return strings.Replace(section, was, b.String(), 1)
}

// jsonSection returns the section of docs/json.md with a command in its head, and the schemas of all
// commands in that head.
func jsonSection(page, command string) (section string, schemas []string) {
	for _, m := range jsonHead.FindAllStringSubmatchIndex(page, -1) {
		prefix, head := "", page[m[2]:m[3]]
		if kinds, found := strings.CutPrefix(head, "profile --by "); found {
			prefix, head = "profile.", kinds
		}
		commands := strings.Split(strings.ReplaceAll(head, " ", "."), ",.")
		for i := range commands {
			commands[i] = prefix + commands[i]
		}
		if slices.Contains(commands, command) {
			for _, c := range commands {
				schemas = append(schemas, report.Schema(c))
			}
			section, _, _ = strings.Cut(page[m[0]:], "\n## ")
			return section, schemas
		}
	}
	return "", nil
}

// withJSON returns the names of the documents of all commands.
func withJSON() (names []string) {
	for _, row := range commands() {
		switch {
		case row.flags&flagJSON == 0:
		case row.name == "profile":
			for _, kind := range profile.Kinds {
				names = append(names, "profile."+kind.By)
			}
		default:
			names = append(names, row.document())
		}
	}
	return names
}

// TestJSONIsAsDescribed: the output of the commands for all traces of the scripts has values of the
// types in docs/json.md.
func TestJSONIsAsDescribed(t *testing.T) {
	traces, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	described := describedJSON(t)
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
				continue // the script is about that error
			}
			filetest.Write(t, "x.scope", b)
			for _, name := range withJSON() {
				command, kind, _ := strings.Cut(name, ".")
				args := []string{command, "x.scope", "--json"}
				switch row := rowOf(command); {
				case command == "compare":
					args = append(args, "x.scope")
				case row.args != "TRACE" || row.takes == takesNothing:
					continue
				case kind != "":
					args = append(args, "--by", kind)
				}
				r := scopeview(args...)
				if r.out == "" {
					continue // the trace has no such data
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

// jsonKey is a key of a document: x[] is an element of a list, x.* a value of an object whose keys are data.
type jsonKey struct{ path, typ, unit, says string }

func documentKeys(document any) []jsonKey {
	return fieldKeys("", reflect.Indirect(reflect.ValueOf(document)).Type())
}

// fieldKeys lists the keys of a struct, without those of report.Kept, which all documents of a
// trace have.
func fieldKeys(path string, typ reflect.Type) (keys []jsonKey) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		tag, omit, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && reflect.TypeFor[report.Kept]() == f.Type, !f.IsExported() && !f.Anonymous, tag == "-":
		case f.Anonymous && f.Type.Kind() == reflect.Pointer:
			keys = append(keys, fieldKeys(path, f.Type.Elem())...)
		case f.Anonymous:
			keys = append(keys, fieldKeys(path, f.Type)...)
		default:
			k := jsonKey{strings.TrimPrefix(path+"."+tag, "."), "", f.Tag.Get("unit"), f.Tag.Get("says")}
			keys = append(keys, valueKeys(k, f.Type, omit == "omitempty")...)
		}
	}
	return keys
}

// valueKeys lists a key, unless its value is a list or a map of objects, and the keys within.
func valueKeys(k jsonKey, typ reflect.Type, absent bool) (keys []jsonKey) {
	null := ""
	if typ.Kind() == reflect.Pointer {
		typ, null = typ.Elem(), " or null"
	}
	leaf := func(name string) []jsonKey {
		if k.typ = name + null; absent {
			k.typ = name + ", may be absent"
		}
		return []jsonKey{k}
	}
	inner := func(suffix string, typ reflect.Type) []jsonKey {
		if absent {
			keys = append(keys, jsonKey{k.path, "object, may be absent", "", ""})
		}
		of := valueKeys(jsonKey{k.path + suffix, "", k.unit, k.says}, typ, false)
		if typ.Kind() == reflect.Struct && k.says != "" && len(of) > 0 && of[0].path != k.path+suffix {
			keys = append(keys, jsonKey{k.path + suffix, "object", "", k.says})
		}
		return append(keys, of...)
	}
	switch typ {
	case reflect.TypeFor[time.Time]():
		return leaf("time")
	case reflect.TypeFor[doctor.Gain](), reflect.TypeFor[report.Float]():
		return leaf("float or null")
	case reflect.TypeFor[report.Int]():
		return leaf("int or null")
	case reflect.TypeFor[json.Number](), reflect.TypeFor[report.Sample]():
		return leaf("number or string")
	case reflect.TypeFor[report.Frame]():
		return leaf("frame")
	case reflect.TypeFor[profile.Values](), reflect.TypeFor[states.Times](): // they are objects
		return inner(".*", reflect.TypeFor[int64]())
	case reflect.TypeFor[profile.Stack]():
		return inner("[]", reflect.TypeFor[report.Frame]())
	}
	switch typ.Kind() {
	case reflect.Interface:
		return leaf("number or string")
	case reflect.Struct:
		if null != "" || absent || k.says != "" {
			keys = leaf("object")
		}
		return append(keys, fieldKeys(k.path, typ)...)
	case reflect.Array:
		return valueKeys(k, typ.Elem(), false)
	case reflect.Slice:
		return inner("[]", typ.Elem())
	case reflect.Func: // a stream
		return inner("[]", typ.In(0).In(0))
	case reflect.Map:
		return inner(".*", typ.Elem())
	case reflect.String:
		return leaf("string")
	case reflect.Bool:
		return leaf("bool")
	case reflect.Float64:
		return leaf("float")
	}
	return leaf("int")
}

// describedJSON returns the keys of the documents of each command.
func describedJSON(t *testing.T) map[string]map[string]jsonKey {
	t.Helper()
	all := map[string]map[string]jsonKey{}
	for name, document := range documents(t) {
		rows := map[string]jsonKey{"schema": {typ: "string"}}
		add := func(path string, keys []jsonKey) {
			for _, k := range keys {
				rows[strings.TrimPrefix(path+"."+k.path, ".")] = k
			}
		}
		add("", documentKeys(document))
		for path, k := range maps.Clone(rows) {
			if strings.HasPrefix(k.typ, "frame") {
				add(path, fieldKeys("", reflect.TypeFor[report.Frame]()))
			}
		}
		for _, path := range []string{"", "a[]", "b[]"} { // compare has lists of traces
			add(path, fieldKeys("", reflect.TypeFor[report.Kept]()))
		}
		all[name] = rows
	}
	return all
}

// walkJSON checks a printed value, and those in it.
func walkJSON(t *testing.T, command string, rows map[string]jsonKey, path string, v any) {
	t.Helper()
	row, leaf := rows[path]
	bad := func() { t.Errorf("%s: %s is %v, and docs/json.md says %q", command, path, v, row.typ) }
	switch v := v.(type) {
	case map[string]any:
		if leaf && !strings.HasPrefix(row.typ, "object") && !strings.HasPrefix(row.typ, "frame") {
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

var jsonHead = regexp.MustCompile(`(?m)^## scopeview ([\w, -]+)$`)
