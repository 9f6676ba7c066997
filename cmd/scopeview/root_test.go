package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// scriptTrace makes the traces of a script in a new working directory.
func scriptTrace(t *testing.T, script string) {
	t.Helper()
	_, parts := readScript(t, "testdata/"+script+".txtar")
	t.Chdir(t.TempDir())
	for i := range parts {
		if !strings.HasPrefix(parts[i].head, "run ") {
			writeFile(t, &parts[i])
		}
	}
}

// TestTerminal: on a terminal there are colours, but no other control characters, for any names.
func TestTerminal(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, script := range []string{"hostile", "losses", "killed", "damaged"} {
		file := map[string]string{"losses": "lossy.scope", "damaged": "flipped.scope"}[script]
		if file == "" {
			file = script + ".scope"
		}
		t.Run(script, func(t *testing.T) {
			scriptTrace(t, script)
			for _, args := range []string{"info", "info --json", "top", "top --by track", "top --json", "export csv", "export csv --raw", "export chrome", "dump"} {
				r := scopeviewOn(context.Background(), true, append(strings.Fields(args), file)...)
				if r.out == "" {
					t.Errorf("%s: nothing is printed; %s", args, r.err)
				}
				for _, r := range colours.ReplaceAllString(r.out+r.err, "") {
					if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf) {
						t.Errorf("%s %s prints %U", args, file, r)
					}
				}
				if coloured := colours.MatchString(r.out); coloured != (args == "info" || strings.HasPrefix(args, "top") && !strings.Contains(args, "json")) {
					t.Errorf("%s: coloured: %v", args, coloured)
				}
			}
		})
	}
	t.Run("losses are red", func(t *testing.T) {
		scriptTrace(t, "losses")
		for _, command := range []string{"info", "top"} {
			if r := scopeviewOn(context.Background(), true, command, "lossy.scope"); !strings.Contains(r.out, "\x1b[1;31m1,236 records were lost") {
				t.Errorf("%s: %q", command, r.out)
			}
		}
	})
}

func TestVersion(t *testing.T) {
	r := scopeview("--version")
	if r.code != exitOK || !strings.HasPrefix(r.out, "scopeview ") || !strings.Contains(r.out, "go1.") {
		t.Errorf("%v", r)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help", "top"}, {"top", "--help"}} {
		if r := scopeview(args...); r.code != exitOK || !strings.Contains(r.out, "Examples:") || r.err != "" {
			t.Errorf("%q: %v", args, r)
		}
	}
}

// TestNewcomer: without arguments it prints the three things that one does first.
func TestNewcomer(t *testing.T) {
	r := scopeview()
	if r.code != exitOK || strings.Count(r.out, "\n  scopeview ") != 3 || !strings.Contains(r.out, "scopeview help") {
		t.Errorf("%v", r)
	}
}

// TestHelpIsInGroups: each visible command is in a group of the help.
func TestHelpIsInGroups(t *testing.T) {
	for _, c := range newRoot(&streams{}).Commands() {
		if c.GroupID == "" && !c.Hidden {
			t.Errorf("%s is in no group", c.Name())
		}
	}
}

// TestPackageCommentListsCommands: doc.go has a line for each command, from the table. With -update
// they are written.
func TestPackageCommentListsCommands(t *testing.T) {
	b := filetest.Read(t, "doc.go")
	var list strings.Builder
	for _, row := range commands() {
		if !row.hidden {
			fmt.Fprintf(&list, "//\tscopeview %-15s  %s\n", row.name, helpOf(row.name).short)
		}
	}
	was := regexp.MustCompile(`(?m)(^//\tscopeview .*\n)+`).FindString(string(b))
	if was == list.String() {
		return
	}
	if !*update {
		t.Fatal("doc.go does not list the table's commands: go test ./cmd/scopeview -run TestPackageComment -update")
	}
	if err := os.WriteFile("doc.go", []byte(strings.Replace(string(b), was, list.String(), 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFlagsMeanTheSame: flags of the same name have the same meaning in each command.
func TestFlagsMeanTheSame(t *testing.T) {
	for name, means := range map[string]string{
		"open": " in the browser", "from": "leave out everything that ended before `TIME`: ", "name": "only names that match `GLOBS`: ",
		"lines": "show the first `N` rows of each table; 0: all", "strict": "exit with code 3 ", "json": "print a JSON document, ",
	} {
		found := 0
		for _, c := range within(newRoot(&streams{})) {
			f := c.Flags().Lookup(name)
			if f == nil {
				continue
			}
			if name == "json" {
				means = ", " + report.Schema(rowOf(strings.TrimPrefix(c.CommandPath(), "scopeview ")).document()) + "; "
			}
			if found++; !strings.Contains(f.Usage, means) {
				t.Errorf("%s --%s: %s", c.CommandPath(), name, f.Usage)
			}
		}
		if found < 2 {
			t.Errorf("%d commands have --%s", found, name)
		}
	}
}

// within returns all commands below one.
func within(cmd *cobra.Command) (list []*cobra.Command) {
	for _, c := range cmd.Commands() {
		list = append(append(list, c), within(c)...)
	}
	return list
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := scopeview("completion", shell); r.code != exitOK || !strings.Contains(r.out, "scopeview") {
			t.Errorf("%s: %v", shell, r)
		}
	}
	for args, want := range map[string]string{
		"__complete ": "top\t", "__complete top --sort ": "p99\n", "__complete top --by ": "track\n",
		"__complete info ":            "scope\nscopez\n:8\n", // files that end so
		"__complete compare a.scope ": "scope\nscopez\n:8\n", "__complete compare a.scope -- b.scope ": "scope\nscopez\n:8\n",
		"__complete compare --view waits --sort ": "holdmax\n", "__complete compare --view ": "doctor\n",
	} {
		if r := scopeview(strings.Split(args, " ")...); !strings.Contains(r.out, want) {
			t.Errorf("%s: %q, want %q in it", args, r.out, want)
		}
	}
}

// TestInterrupt: an interrupted command says so and leaves no file.
func TestInterrupt(t *testing.T) {
	scriptTrace(t, "store")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, command := range []string{"info", "top", "verify", "dump"} {
		if r := scopeviewOn(ctx, false, command, "store.scope"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") {
			t.Errorf("%s: %v", command, r)
		}
	}
	files(t, ".", "store.scope")
	if r := scopeviewOn(ctx, false, "tail", "store.scope"); r.code != exitOK {
		t.Errorf("tail: %v", r)
	}
}

func TestProgress(t *testing.T) {
	var out, err strings.Builder
	now := time.Now()
	p := &progress{s: &streams{out: &out, err: &err, errTerm: true}, end: 1000, begin: now.Add(-42 * time.Second), next: now.Add(-time.Second)}
	p.at(420)
	p.at(430) // too soon after the previous one
	p.done()
	if got, want := err.String(), "\r 42%, 58s left \x1b[K\r\x1b[K"; got != want || out.String() != "" {
		t.Errorf("%q and %q, want %q", got, out.String(), want)
	}
	err.Reset()
	scriptTrace(t, "store")
	if r := scopeview("export", "csv", "store.scope", "-o", "x.csv"); r.err != "" || r.out != "" {
		t.Errorf("in a pipe: %v", r)
	}
}

// TestJSONIsWhole: a document is one JSON value, also with hostile names.
func TestJSONIsWhole(t *testing.T) {
	scriptTrace(t, "hostile")
	for _, command := range []string{"info", "top"} {
		var v map[string]any
		r := scopeview(command, "hostile.scope", "--json")
		if err := json.Unmarshal([]byte(r.out), &v); err != nil || len(v) < 4 {
			t.Errorf("%s: %v in %s", command, err, r.out)
		}
	}
}
