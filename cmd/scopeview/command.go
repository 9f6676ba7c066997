package main

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/anonymize"
	"github.com/scopeview/scopeview/internal/export/csv"
)

// command is a row of the table of commands.
type command struct {
	name  string // as it is written, such as "pgo show"; its help is help/pgo_show.txt
	args  string // arguments, as in the usage: TRACE FUNC
	group string // of the list of commands; "" below another command
	takes takes
	flags flagSet
	raw   bool // it parses its flags itself

	hidden bool // it is for the go command, and has no help

	// new defines the command's own flags, and returns the function that runs it. nil: the
	// command only has others below it.
	new func(c *call) func() error
}

// takes is the treatment of a command's TRACEs before it runs.
type takes int

const (
	takesNothing takes = iota // nothing: it uses addresses and processes itself, or has no TRACE
	takesFile                 // they become files of this machine that are traces
	takesSource               // the same, but files of other tools with samples stay as they are
	takesTrace                // the same as takesFile, and its only TRACE is opened
)

// build returns the command for cobra.
func (row *command) build(s *streams) *cobra.Command {
	h, names := helpOf(row.name), strings.Fields(row.name)
	c := &call{s: s, row: row, takes: row.takes, arity: row.arity}
	c.cmd = &cobra.Command{
		Use: strings.TrimSpace(names[len(names)-1] + " " + row.args), GroupID: row.group, Hidden: row.hidden,
		Short: h.short, Long: h.long, Example: h.examples,
		ValidArgsFunction: row.complete, DisableFlagParsing: row.raw, DisableFlagsInUseLine: row.raw,
	}
	if row.new == nil {
		c.cmd.Use += " COMMAND"
		c.cmd.RunE = needsCommand
		return c.cmd
	}
	c.define(row.flags)
	run := row.new(c)
	c.cmd.Args = func(_ *cobra.Command, args []string) error {
		if row.raw {
			return nil
		}
		return c.arity(args)
	}
	c.cmd.RunE = func(_ *cobra.Command, args []string) error {
		c.args = args
		return asExit(c.run(run))
	}
	return c.cmd
}

// asExit returns the error of a command that ran as an exit. Errors that are not exits are cobra's, about
// the command line.
func asExit(err error) error {
	var e *exit
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &exit{exitFailed, err}
}

// needsCommand is the error of a command that only has others below it.
func needsCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("there is no command %s %q", cmd.Name(), args[0])
	}
	var below []string
	for _, c := range cmd.Commands() {
		below = append(below, c.Name())
	}
	return fmt.Errorf("%s needs a command: %s", cmd.Name(), strings.Join(below, ", "))
}

// words returns the arguments of the usage, without brackets, and how many of them must and may be
// given; most is -1 for any number.
func (row *command) words() (words []string, least, most int) {
	usage := row.args
	if i := strings.LastIndex(usage, " | "); i >= 0 {
		usage = usage[i+len(" | "):]
	}
	optional := 0 // depth of brackets
	for word := range strings.FieldsSeq(usage) {
		optional += strings.Count(word, "[")
		name := strings.Trim(word, "[]")
		if !strings.HasPrefix(name, "-") {
			if optional == 0 {
				least++
			}
			if strings.HasSuffix(name, "…") {
				most = -1
			}
			words = append(words, strings.TrimSuffix(name, "…"))
		}
		optional -= strings.Count(word, "]")
	}
	if most == 0 {
		most = len(words)
	}
	return words, least, most
}

// word returns the name of an argument in the usage.
func (row *command) word(i int) string {
	words, _, most := row.words()
	switch {
	case i < len(words):
		return words[i]
	case most < 0:
		return words[len(words)-1]
	}
	return ""
}

// meanings explains arguments to those who forgot them.
var meanings = map[string]string{
	"TRACE":     "a file, a directory, the number of a running process, or a program's http://…/debug/scope/",
	"FUNC":      "a function, such as main.work",
	"FUNC|FILE": "a function or a file, such as main.work or store.go",
	"PROFILE":   "a CPU profile, a recording or a perf.data",
	"TEXT":      "a sample profile in LLVM's text format",
	"SOURCE":    "a recording, a directory of them, a profile, http://HOST:PORT, or -- and a command",
	"OLD=NEW":   "the old and the new name, such as main.work=main.Work",
	"COMMAND":   "the program to run, with its arguments, after --",
	"GOTRACE":   "a file of runtime/trace, go test -trace or /debug/pprof/trace",
	"DIR|FILE":  "the directories and traces that may be read",
}

// arity checks the number of arguments.
func (row *command) arity(args []string) error {
	words, least, most := row.words()
	switch n := len(args); {
	case n < least:
		word, article := words[n], "a"
		if strings.ContainsRune("AEIOU", rune(word[0])) {
			article = "an"
		}
		return fmt.Errorf("%s needs %s %s: %s", row.name, article, word, meanings[word])
	case most == 0 && n > 0:
		return fmt.Errorf("%s takes no arguments, not %q", row.name, args)
	case most > 0 && n > most:
		return fmt.Errorf("%s takes %s, not %d: %q", row.name, row.args, n, args)
	}
	if i := slices.Index(args, standardInput); i >= 0 && slices.Contains(args[i+1:], standardInput) {
		return errors.New("-: standard input can be read only once")
	}
	return nil
}

// complete completes an argument.
func (row *command) complete(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch row.word(len(args)) {
	case "TRACE":
		return completeTrace(nil, nil, "")
	case "PROFILE", "SOURCE", "TEXT", "DIR|FILE", "RAW", "COMMAND", "ARGUMENT", "GOTRACE", "PACKAGE":
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeTrace completes directories, and files that are traces.
func completeTrace(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"scope", "scopez"}, cobra.ShellCompDirectiveFilterFileExt
}

//go:embed help
var helpFiles embed.FS

// help is a file of help: a line, a text, and examples.
type help struct{ short, long, examples string }

// helpOf returns the help of a command.
func helpOf(name string) help { return helps()[name] }

// helps reads the files of help, once: tests make the table thousands of times.
var helps = sync.OnceValue(func() map[string]help {
	all := map[string]help{"scopeview": readHelp("scopeview")}
	for _, row := range commands() {
		if !row.hidden {
			all[row.name] = readHelp(row.name)
		}
	}
	return all
})

func readHelp(name string) help {
	b, err := helpFiles.ReadFile("help/" + strings.ReplaceAll(name, " ", "_") + ".txt")
	if err != nil {
		panic(err) // TestCommands reads each
	}
	text, examples, _ := strings.Cut(string(b), "\nExamples:\n")
	short, long, _ := strings.Cut(text, "\n\n")
	return help{short, strings.TrimSpace(fill(long)), strings.TrimRight(examples, "\n")}
}

// computed are the parts of help that stand elsewhere in the program.
var computed = map[string]func() string{
	"facts":     func() string { return strings.ReplaceAll(anonymize.Facts, "\n", "\n  ") },
	"questions": func() string { return strings.Join(questions, ", ") },
	"columns":   func() string { return strings.TrimSpace(csv.Header) },
	"tables":    tableList,
	"verdicts":  verdictList,
	"views":     viewList,
}

// fill replaces each {name} in a help text: by a computed part, or by help/shared/name.txt.
func fill(text string) string {
	var parts []string
	for {
		before, rest, found := strings.Cut(text, "{")
		name, after, ends := strings.Cut(rest, "}")
		if !found || !ends {
			return strings.Join(append(parts, text), "")
		}
		part := "{" + name + "}"
		if f := computed[name]; f != nil {
			part = f()
		} else if b, err := helpFiles.ReadFile("help/shared/" + name + ".txt"); err == nil {
			part = strings.TrimRight(string(b), "\n")
		}
		parts, text = append(parts, before, part), after
	}
}

// rowOf returns the row of a command; nil: there is none.
func rowOf(name string) *command {
	list := commands()
	if i := slices.IndexFunc(list, func(c command) bool { return c.name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}
