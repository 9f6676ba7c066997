package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/shmtest"
	"github.com/scopeview/scopeview/internal/trace/text"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	if isVetTool(os.Args[1:]) {
		vetTool() // the go command calls the tool that vet named: this program
	}
	if os.Getenv(asTool) != "" {
		main()
	}
	time.Local = time.UTC // wall-clock times are shown as local ones
	flag.Parse()
	os.Exit(shmtest.Run(m.Run))
}

// A script is a file of testdata: a description, then parts. A part called *.scope is a trace in
// the language of internal/trace/text, any other name with a dot a literal file. A part "run ARGS"
// is a call of the tool; its text is the expected standard output, then, after "! ", standard
// error, then the exit code if it is not 0. go test -update rewrites these.
type part struct {
	head string // "name" or "run ARGS"
	text string
}

var partHead = regexp.MustCompile(`(?m)^-- (.+) --\n`)

func readScript(t *testing.T, path string) (story string, parts []part) {
	t.Helper()
	b := filetest.Read(t, path)
	heads := partHead.FindAllStringSubmatchIndex(string(b), -1)
	if len(heads) == 0 || heads[0][0] == 0 {
		t.Fatalf("%s: want a story, then parts", path)
	}
	for i, h := range heads {
		end := len(b)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		parts = append(parts, part{string(b[h[2]:h[3]]), string(b[h[1]:end])})
	}
	return string(b[:heads[0][0]]), parts
}

func TestScripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if name := filepath.Base(path); (name == "killed.txtar" || name == "shm.txtar") && runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				t.Skip("whether a writer lives is not known on this system")
			}
			story, parts := readScript(t, path)
			source, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Setenv("SCOPEVIEW_CACHE", t.TempDir()) // no weights were measured on this machine
			t.Chdir(dir)
			t.Setenv("SCOPEVIEW_CACHE", t.TempDir()) // without weights measured on this machine
			if dir, err = filepath.EvalSymlinks(dir); err != nil {
				t.Fatal(err)
			}
			for i := range parts {
				p := &parts[i]
				args, isRun := strings.CutPrefix(p.head, "run ")
				if !isRun {
					writeFile(t, p)
					continue
				}
				got := strings.NewReplacer(version(), "scopeview VERSION", dir, "DIR").Replace(scopeview(strings.Fields(args)...).String())
				if *update {
					p.text = got
				} else if got != p.text {
					t.Errorf("scopeview %s\n got:\n%s\nwant:\n%s", args, got, p.text)
				}
			}
			if *update {
				var b strings.Builder
				b.WriteString(story)
				for _, p := range parts {
					fmt.Fprintf(&b, "-- %s --\n%s", p.head, p.text)
				}
				if err := os.WriteFile(source, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// writeFile writes the file of a part.
func writeFile(t *testing.T, p *part) {
	t.Helper()
	data := []byte(p.text)
	name, raw := strings.CutSuffix(p.head, " raw")
	if filepath.Ext(name) == extension && !raw {
		var err error
		if data, err = text.Assemble(strings.NewReader(p.text)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// result holds a call's output and exit code.
type result struct {
	out, err string
	code     int
}

// scopeview runs the tool in this process, without a terminal. The first argument may be several
// words: profile --by line.
func scopeview(args ...string) result {
	return scopeviewOn(context.Background(), false, args...)
}

// scopeviewOn runs the tool as if on a terminal with colours, or not.
func scopeviewOn(ctx context.Context, terminal bool, args ...string) result {
	var out, err bytes.Buffer
	s := &streams{out: &out, err: &err, outTerm: terminal, errTerm: terminal, color: terminal}
	code := execute(ctx, s, split(args))
	return result{out.String(), err.String(), code}
}

// split splits the first argument into words.
func split(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	return append(strings.Fields(args[0]), args[1:]...)
}

func (r result) String() string {
	s := r.out
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "<no newline>\n"
	}
	for line := range strings.Lines(r.err) {
		s += "! " + line
	}
	if r.code != 0 {
		s += fmt.Sprintf("exit %d\n", r.code)
	}
	return s
}
