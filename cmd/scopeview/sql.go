package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/query"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/report/sql"
)

// questions are the companion's saved questions.
var questions = []string{"changed", "lock-holders", "outlier-hosts", "p99-by-build", "request"}

// fleetFlags are those of sql that only the companion has.
var fleetFlags = []string{"-d", "--data", "--set", "--list", "--print", "--engine", "--most"}

// questionFile is the ending of a file with a question.
const questionFile = ".sql"

func newSQL(c *call) func() error {
	asCSV := c.flags().Bool("csv", false, "print the rows as CSV, with exact values")
	c.cmd.ValidArgsFunction = cobra.FixedCompletions(questions, cobra.ShellCompDirectiveDefault)
	return func() error {
		if ofFleet(c.args) {
			return c.companion("sql")()
		}
		return c.parsed(func() error { return c.sql(*asCSV) })
	}
}

// ofFleet reports whether the arguments of sql are about the tables of a fleet.
func ofFleet(args []string) bool {
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(fleetFlags, name) || strings.HasPrefix(arg, "-d") {
			return true
		}
		if i == 0 && (slices.Contains(questions, arg) || filepath.Ext(arg) == questionFile) {
			_, err := os.Stat(arg)
			return err != nil || filepath.Ext(arg) == questionFile
		}
	}
	return false
}

// parsed runs a command on a TRACE whose arguments cobra has left as they are.
func (c *call) parsed(command func() error) error {
	c.cmd.DisableFlagParsing = false
	if err := c.cmd.ParseFlags(c.args); err != nil {
		return usagef("%w", err)
	}
	if help, _ := c.flags().GetBool("help"); help {
		return c.cmd.Help()
	}
	c.args = c.flags().Args()
	if err := c.arity(c.args); err != nil {
		return usagef("%w", err)
	}
	c.takes = takesTrace
	return c.run(command)
}

// sql answers the question about the trace, or lists the tables.
func (c *call) sql(asCSV bool) error {
	if asCSV && c.asJSON {
		return usagef("--csv and --json exclude each other")
	}
	if len(c.args) == 1 {
		if asCSV || c.asJSON {
			return usagef("sql TRACE explains the tables to people: give --csv and --json a QUESTION, such as \"SELECT * FROM columns\"")
		}
		return c.showReport(sql.Tables())
	}
	question, err := questionOf(c.args[1])
	if err != nil {
		return err
	}
	c.progress = newProgress(c.s, c.t, !asCSV && !c.asJSON || !c.out.standard() || !c.s.outTerm)
	defer c.progress.done()
	c.sel.Progress = c.progress.at
	q, err := query.New(c.context(), c.t, &c.sel.Selection, question)
	if err != nil {
		var of *query.Error
		if errors.As(err, &of) {
			return usagef("%w", err)
		}
		return c.failed(err)
	}
	defer q.Close()
	r := sql.Of(c.t, q)
	text := r.Text
	r.Text = func(b *report.Text) {
		text(b)
		c.progress.done() // before it is printed
	}
	if asCSV {
		warnLosses(c.s, c.path, c.t)
		err = c.out.write(c.s, func(w io.Writer) error { return errors.Join(r.CSV(c.out.exact(c.s, w)), r.Answered()) })
	} else {
		err = c.out.write(c.s, func(w io.Writer) error { return errors.Join(c.writeReport(w, &r.Report), r.Answered()) })
	}
	if err == nil {
		err = r.Problem()
	}
	if err != nil {
		return c.failed(err)
	}
	return c.verdict()
}

// questionOf returns the question that QUESTION names: SQL, - for standard input, or a file *.sql.
func questionOf(arg string) (string, error) {
	switch {
	case arg == standardInput:
		b, err := io.ReadAll(io.LimitReader(os.Stdin, 1<<20))
		if err != nil {
			return "", fmt.Errorf("reading the question from standard input: %w", err)
		}
		return string(b), nil
	case filepath.Ext(arg) == questionFile && !strings.ContainsAny(arg, " \n"):
		b, err := os.ReadFile(arg)
		if err != nil {
			return "", fmt.Errorf("reading the question: %w", err)
		}
		return string(b), nil
	}
	return arg, nil
}

// tableList lists the tables for the help.
func tableList() string {
	var names []string
	for _, t := range query.Tables() {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
