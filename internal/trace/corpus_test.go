package trace_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/trace"
)

// otherErrors are errors that no trace's bytes cause, and why.
var otherErrors = map[string]string{
	"reading at offset %d: %w":                                                "the system's",
	"%s: reading at offset %d: %w":                                            "the system's",
	"reading the trace's size: %w":                                            "the system's",
	"not all heartbeats could be read: *":                                     "the system's",
	"a chunk could not be read to its end: the file shrank while it was read": "a file that changes: TestG25",
	"%w: the file shrank from at least %d bytes while it was read":            "a file that changes: TestG25, TestFollowerLosesTrace",
	"%w: another trace was written over it while it was read":                 "a file that changes: TestFollowerLosesTrace",
	"%w: the stored file %s was changed while it was read":                    "a file that changes",
	"the chunk was overwritten":                                               "a file that changes: TestRing",
	"%w; %s":                                                                  "others with a hint",
	"%s: %w; %s":                                                              "others with a hint",
	"corrupt":                                                                 "no text of its own",
	"%w: extension of %d bytes":                                               "a caller's mistake: what is no whole unit is not decoded",
	"%w: extension header %016x":                                              "a caller's mistake: what has no header is not decoded",
	"%w: extension of %d units in %d bytes":                                   "a caller's mistake: what is not whole is not decoded",
	"%d slots, at most %d fit":                                                "a writer's",
	"extension of %d units, at most %d fit":                                   "a writer's",
	"%d bytes of text, at most %d fit":                                        "a writer's",
	"the trace's control words make no sense":                                 "the control words are the writer's to read: TestControl of internal/format",
	"%w: a text of %d bytes":                                                  "as above",
	"it has %d bytes, and at most %d are read":                                "a caller's limit of what is stored: TestStoredSources of internal/report/annotate",
	"it has %d lines, and at most %d are read":                                "as above",
	"this machine was restarted since, or it is another machine: if the machine stopped, data that had not reached the disk is missing": "of a file and the machine: TestRestart",
	"a page of a chunk is missing: it had not reached the disk when the machine stopped":                                                "as above: TestPagesOfOthers, TestG18",
	"a segment that its writer did not delete is missing: if it had reached the disk, copy it next to the trace":                        "of other files: TestSegmentsComeAndGo",
	"a chunk is missing: the packed file is cut off or damaged where it was":                                                            "of a packed file: TestLost of internal/pack",
	"corrupt: the packed file is cut off or damaged where it was":                                                                       "as above",
	"too many named goroutines: those idle for longest may lose their names":                                                            "it takes more goroutines than a file of the corpus has records: rows_test.go",
	"the trace has no such process":          "of what was asked for: TestNoProcessIsKept",
	"%w; it has: %s":                         "as above",
	"%w: it has more than %d pieces of code": "it takes more objects than a file of the corpus has blocks",
}

// hotErrors are the files with errors of a hot file, and of a segment, which internal/hot reads,
// with tests of its own.
var hotErrors = []string{"hot.go", "segment.go"}

// TestG23Corpus checks that every error of the parser for a file's contents is reached by a file of
// the corpus with which fuzzing begins.
func TestG23Corpus(t *testing.T) {
	if trace.RaceEnabled {
		t.Skip("it has one goroutine, and takes long with the race detector")
	}
	said := map[string]bool{}
	say := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			said[err.Error()] = true
		}
	}
	read := func(data []byte) {
		r, size := bytes.NewReader(data), int64(len(data))
		tr, err := trace.Open(r, size)
		if say(err); err != nil {
			return
		}
		if err := tr.Events(trace.Options{}, func(*trace.Event) bool { return true }); err != nil {
			t.Error(err)
		}
		for _, p := range tr.Problems() {
			said[p.Text] = true
		}
		findings, err := trace.Verify(r, size)
		for say(err); len(findings) > 0; findings = findings[1:] {
			said[findings[0].Text] = true
		}
	}
	for _, g := range goldens(t) {
		read(g.bytes(t))
	}
	for _, data := range small(t) {
		read(data)
	}
	for _, b := range tracetest.Bombs(1 << 17) {
		read(b.Data)
	}
	var all strings.Builder
	for _, text := range slices.Sorted(maps.Keys(said)) {
		all.WriteString(text + "\n")
	}
	list := parserErrors(t)
	reached := 0
	for _, text := range slices.Sorted(maps.Keys(list)) {
		if !list[text].MatchString(all.String()) {
			if otherErrors[text] == "" {
				t.Errorf("no file of the corpus leads to %q", text)
			}
			continue
		}
		if otherErrors[text] == "" {
			reached++
		}
	}
	for text := range otherErrors {
		if list[text] == nil {
			t.Errorf("there is no error %q any more", text)
		}
	}
	t.Logf("G23: %d of the parser's %d errors are reached by a file of the corpus, the other %d are not of what is in a file", reached, len(list), len(otherErrors))
}

var verb = regexp.MustCompile(`%[0-9]*[a-z]`)

// parserErrors returns the texts of errors and problems in the sources of internal/format and
// internal/trace, with a pattern for each.
func parserErrors(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	list := map[string]*regexp.Regexp{}
	add := func(text string) {
		if strings.Trim(text, "* ") == "" {
			return
		}
		var re strings.Builder
		for i, literal := range strings.Split(verb.ReplaceAllString(text, "*"), "*") {
			if i > 0 {
				re.WriteString(".*")
			}
			re.WriteString(regexp.QuoteMeta(literal))
		}
		list[text] = regexp.MustCompile(re.String())
	}
	for _, dir := range []string{".", "../format"} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") || slices.Contains(hotErrors, filepath.Base(path)) {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
						switch f.Sel.Name {
						case "Errorf", "New":
							add(literal(n.Args[0]))
						case "add", "set":
							if c, ok := n.Args[0].(*ast.CallExpr); ok && len(c.Args) > 0 { // Sprintf
								add(literal(c.Args[0]))
							} else if len(n.Args) == 3 || f.Sel.Name == "set" && len(n.Args) == 2 {
								add(literal(n.Args[0]))
							}
						}
					}
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if strings.HasPrefix(name.Name, "text") && i < len(n.Values) {
							add(literal(n.Values[i]))
						}
					}
				}
				return true
			})
		}
	}
	if len(list) < 60 {
		t.Errorf("only %d errors were found in the sources", len(list))
	}
	return list
}

// literal returns the text of an expression, * for parts not known before run time.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return "*"
}
