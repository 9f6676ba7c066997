package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCommands: each row of the table has a help with examples, in a group that exists.
func TestCommands(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range commands() {
		if seen[row.name] {
			t.Errorf("%s is there twice", row.name)
		}
		seen[row.name] = true
		if row.hidden {
			continue
		}
		h := helpOf(row.name)
		if h.short == "" || len(h.short) > 100 || strings.HasSuffix(h.short, ".") || h.long == "" || !strings.Contains(h.examples, "  scopeview "+row.name) {
			t.Errorf("the help of %s is not complete: %q", row.name, h.short)
		}
		parent, _, below := strings.Cut(row.name, " ")
		switch {
		case below && (row.group != "" || !seen[parent]):
			t.Errorf("%s is below no command, or has a group", row.name)
		case !below && !slices.ContainsFunc(groups, func(g struct{ id, title string }) bool { return g.id == row.group }):
			t.Errorf("%s is in no group: %q", row.name, row.group)
		}
	}
	files, err := helpFiles.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.ReplaceAll(strings.TrimSuffix(f.Name(), ".txt"), "_", " ")
		if !f.IsDir() && !seen[name] && name != "scopeview" {
			t.Errorf("help/%s is of no command", f.Name())
		}
	}
}

func TestWords(t *testing.T) {
	for args, want := range map[string]struct {
		words       string
		least, most int
	}{
		"":                                {"", 0, 0},
		"TRACE FUNC|FILE":                 {"TRACE FUNC|FILE", 2, 2},
		"TRACE TRACE | TRACE… -- TRACE…":  {"TRACE TRACE", 2, -1},
		"PROFILE [PACKAGE…]":              {"PROFILE PACKAGE", 1, -1},
		"[PACKAGE] [-- ARGUMENT…]":        {"PACKAGE ARGUMENT", 0, -1},
		"[RAW… [-- PACKAGE [ARGUMENT…]]]": {"RAW PACKAGE ARGUMENT", 0, -1},
		"-- COMMAND [ARGUMENT…]":          {"COMMAND ARGUMENT", 1, -1},
	} {
		words, least, most := (&command{args: args}).words()
		if strings.Join(words, " ") != want.words || least != want.least || most != want.most {
			t.Errorf("%q: %q, %d to %d", args, words, least, most)
		}
	}
}

// written matches a command line in a document, in source, in help or on the page: behind a backtick,
// a prompt, a pipe, or two blanks at the begin of a line.
var written = regexp.MustCompile("(?m)(?:`|\\$ |&& |\\| |^(?://)?[ \t]{2,}|^//\t|\"|\\()scopeview ((?:[a-z][a-z-]* ?)+)([^`\n|&\"]*)")

// suggested matches a command line that a report suggests.
var suggested = regexp.MustCompile(`\bb\.Command\("([a-z]+)"([^)]*)\)`)

// TestCommandLinesExist: command lines in documents, sources and on the page have commands of the
// table, and flags that these have.
func TestCommandLinesExist(t *testing.T) {
	root := newRoot(&streams{out: io.Discard, err: io.Discard})
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.md", "*.go", "*.js", "*.html", "*.txt", "Makefile").Output()
	if err != nil {
		t.Skip("the files are listed by git: ", err)
	}
	found := 0
	for path := range strings.FieldsSeq(string(out)) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") || path == "CHANGELOG.md" {
			continue
		}
		b, err := os.ReadFile(filepath.Join("../..", path))
		if os.IsNotExist(err) {
			continue // it is removed, and not yet from the index
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range suggested.FindAllSubmatch(b, -1) {
			cmd, _, err := root.Find([]string{string(m[1])})
			if err != nil || cmd == root {
				t.Errorf("%s: there is no scopeview %s", path, m[1])
				continue
			}
			checkFlags(t, path, 0, cmd, strings.ReplaceAll(string(m[2]), "\"", " "))
		}
		for _, m := range written.FindAllSubmatchIndex(b, -1) {
			line := bytes.Count(b[:m[0]], []byte("\n")) + 1
			words, flags := strings.Fields(string(b[m[2]:m[3]])), string(b[m[4]:m[5]])
			cmd, _, err := root.Find(words)
			if err != nil || cmd == root {
				if strings.ContainsRune("`$&|", rune(b[m[0]])) && words[0][0] != '-' && !slices.Contains([]string{"help", "completion"}, words[0]) && filepath.Ext(path) != ".go" {
					t.Errorf("%s:%d: there is no scopeview %s", path, line, words[0])
				}
				continue // a sentence
			}
			found++
			checkFlags(t, path, line, cmd, flags)
		}
	}
	if found < 300 {
		t.Errorf("only %d command lines were found", found)
	}
}

var flagWritten = regexp.MustCompile(`(?:^|[ \[])--([a-z][a-z-]*)`)

// checkFlags checks the flags of a command line up to the --, behind which there is another one's.
func checkFlags(t *testing.T, path string, line int, cmd *cobra.Command, flags string) {
	t.Helper()
	flags, _, _ = strings.Cut(flags, " -- ")
	flags, _, _ = strings.Cut(flags, " #")
	flags, _, _ = strings.Cut(flags, "   ") // behind it is an explanation
	if row := rowOf(strings.TrimPrefix(cmd.CommandPath(), "scopeview ")); row == nil || row.name == "sql" || row.name == "export parquet" {
		return // the companion has the flags
	}
	for _, f := range flagWritten.FindAllStringSubmatch(flags, -1) {
		if f[1] != "help" && cmd.Flags().Lookup(f[1]) == nil {
			t.Errorf("%s:%d: %s has no flag --%s", path, line, cmd.CommandPath(), f[1])
		}
	}
}
