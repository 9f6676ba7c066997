package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/fleet/internal/ask"
	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/fleet/internal/tables"
)

const sqlHelp = `sql asks DuckDB about the tables that scopeview export parquet has written. QUESTION is one of those that
--list lists, FILE has SQL of your own, and - is SQL from standard input. The tables are views by their names;
docs/fleet.md lists their columns.

PLACE is where the tables are. Of an object store the files that a question needs are copied into the user's
cache first: those of the tables that it names, and of the service and the dates that --set chooses.

--print shows the SQL and runs nothing; with --engine trino it has what Trino needs to know the tables.`

// sqlFlags are the flags of sql.
type sqlFlags struct {
	place, engine string
	set           []string
	list, print   bool
	json, csv     bool
	most          int64
}

func newSQL() *cobra.Command {
	var o sqlFlags
	cmd := &cobra.Command{
		Use:   "sql QUESTION|FILE",
		Short: "Ask a saved question, or SQL of your own, about the tables of a fleet",
		Long:  sqlHelp,
		Example: `  scopeview sql --list
  scopeview sql p99-by-build -d fleet/
  scopeview sql changed -d s3://traces/fleet --set before=v1.4.1 --set after=v1.4.2
  scopeview sql request -d s3://traces/fleet --set id=4bf92f3577b34da6a3ce929d0e0e4736 --print --engine trino`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.list {
				return listQuestions(cmd)
			}
			if len(args) == 0 {
				return usagef("sql needs a QUESTION, or a FILE with SQL; --list lists the questions")
			}
			return o.run(cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.place, "data", "d", ".", "`PLACE` of the tables: a directory, or s3://BUCKET/PREFIX")
	f.StringArrayVar(&o.set, "set", nil, "set a parameter of the question: `KEY=VALUE`")
	f.BoolVar(&o.list, "list", false, "list the saved questions and their parameters")
	f.BoolVar(&o.print, "print", false, "print the SQL, and run nothing")
	f.StringVar(&o.engine, "engine", "duckdb", "whose SQL --print prints: duckdb, trino")
	f.BoolVar(&o.json, "json", false, "print the rows as a JSON array of objects")
	f.BoolVar(&o.csv, "csv", false, "print the rows as CSV")
	f.Int64Var(&o.most, "most", 4096, "copy no more than so many `MB` from an object store")
	return cmd
}

func listQuestions(cmd *cobra.Command) error {
	for _, q := range ask.Saved() {
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n    %s\n", q.Name, q.About)
		for _, p := range q.Params {
			preset := p.Preset
			if p.Required {
				preset = "…"
			}
			fmt.Fprintf(cmd.OutOrStdout(), "    --set %-16s %s\n", p.Name+"="+preset, p.About)
		}
	}
	return nil
}

// check returns an error for flags that exclude each other.
func (o *sqlFlags) check() error {
	if o.engine != "duckdb" && o.engine != "trino" {
		return usagef("--engine %q: there is duckdb, trino", o.engine)
	}
	if o.engine == "trino" && !o.print {
		return usagef("--engine trino runs nothing here: with --print it prints what to give to Trino")
	}
	if o.json && o.csv {
		return usagef("--json and --csv: one of them")
	}
	return nil
}

// form returns the output format.
func (o *sqlFlags) form() ask.Form {
	switch {
	case o.json:
		return ask.JSON
	case o.csv:
		return ask.CSV
	}
	return ask.Table
}

// values returns the question's parameters.
func (o *sqlFlags) values() (map[string]string, error) {
	set := map[string]string{}
	for _, s := range o.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("--set %q: it takes KEY=VALUE", s)
		}
		set[key] = value
	}
	return set, nil
}

func (o *sqlFlags) run(cmd *cobra.Command, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	q, err := question(cmd, name)
	if err != nil {
		return err
	}
	set, err := o.values()
	if err != nil {
		return err
	}
	sql, err := q.Fill(set)
	if err != nil {
		return usagef("%w", err)
	}
	sql = strings.TrimRight(sql, "; \n") + ";\n"
	if err := store.Check(o.place); err != nil {
		return usagef("%w", err)
	}
	needs := ask.Needs(sql)
	if o.print && (o.engine == "trino" || store.Remote(o.place)) {
		views := ask.Trino(needs, o.place)
		if o.engine == "duckdb" {
			views = ask.DuckDB(needs, o.place, func(*tables.Table) bool { return true })
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n%s", views, sql)
		return err
	}
	place, err := store.Open(o.place)
	if err != nil {
		return usagef("%w", err)
	}
	dir, err := ask.Local(cmd.Context(), place, needs, set, o.most<<20, func(s string) { fmt.Fprintf(cmd.ErrOrStderr(), "scopeview: %s\n", s) })
	if err != nil {
		return err
	}
	there := ask.There(dir)
	if !slices.ContainsFunc(tables.All, there) {
		return fmt.Errorf("%s: there are no tables; scopeview export parquet TRACE... -o PLACE writes them, and -d PLACE says where they are", place)
	}
	sql = ask.DuckDB(needs, dir, there) + "\n" + sql
	if o.print {
		_, err := fmt.Fprint(cmd.OutOrStdout(), sql)
		return err
	}
	return ask.Run(cmd.Context(), sql, o.form(), cmd.OutOrStdout(), cmd.ErrOrStderr())
}

// question finds a saved question, or reads a file.
func question(cmd *cobra.Command, name string) (ask.Question, error) {
	saved := ask.Saved()
	if i := slices.IndexFunc(saved, func(q ask.Question) bool { return q.Name == name }); i >= 0 {
		return saved[i], nil
	}
	text, err := read(cmd, name)
	if errors.Is(err, fs.ErrNotExist) {
		var names []string
		for _, q := range saved {
			names = append(names, q.Name)
		}
		return ask.Question{}, usagef("%q is no saved question (%s), and no file", name, strings.Join(names, ", "))
	}
	if err != nil {
		return ask.Question{}, fmt.Errorf("reading SQL: %w", err)
	}
	return ask.Parse(name, string(text))
}

// mostSQL is the maximum size read from a file with SQL.
const mostSQL = 1 << 20

func read(cmd *cobra.Command, name string) ([]byte, error) {
	in := cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return io.ReadAll(io.LimitReader(in, mostSQL+1)) // one more, for the error of Parse
}
