package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/fleet/internal/export"
	"github.com/scopeview/scopeview/fleet/internal/store"
	"github.com/scopeview/scopeview/fleet/internal/tables"
)

const parquetHelp = `parquet writes a trace's records into Parquet tables, for DuckDB, Trino and other engines:

  TABLE/service=S/date=D/host=H/run=R/FILE.parquet

TRACE is a file, or a directory: all traces below it. PLACE is a directory, or s3://BUCKET/PREFIX with the
credentials AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, and AWS_ENDPOINT_URL where the
object store is not Amazon's. docs/fleet.md lists tables and columns.

What is exported twice is there once. Of snapshots of one process that overlap, the second leaves out what
the first has. The table findings takes the doctor's time and memory; --tables leaves it out.`

func newParquet() *cobra.Command {
	var place string
	var names []string
	var strict bool
	var o export.Options
	cmd := &cobra.Command{
		Use:   "parquet TRACE... -o PLACE",
		Short: "Write traces into Parquet tables, in a directory or an object store",
		Long:  parquetHelp,
		Example: `  scopeview export parquet x.scope -o fleet/
  scopeview export parquet snapshots/ -o s3://traces/fleet --service shop --host "$NODE_NAME" --pod "$POD_NAME"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || place == "" {
				return usagef("export parquet needs a TRACE, and -o with the directory or the s3://BUCKET/PREFIX of the tables")
			}
			for _, n := range names {
				t := tables.Named(n)
				if t == nil {
					return usagef("--tables %q: there is %s", n, strings.Join(tableNames(), ", "))
				}
				o.Tables = append(o.Tables, t)
			}
			out, err := store.Open(place)
			if err != nil {
				return usagef("%w", err)
			}
			files, err := export.Files(args)
			if err != nil {
				return err
			}
			return exportAll(cmd, files, out, o, strict)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&place, "output", "o", "", "`PLACE` of the tables: a directory, or s3://BUCKET/PREFIX")
	f.StringVar(&o.Service, "service", os.Getenv("OTEL_SERVICE_NAME"), "the service's `NAME`; else OTEL_SERVICE_NAME, or the program's file")
	f.StringVar(&o.Host, "host", "", "the `NAME` of the host; else that of the trace")
	f.StringVar(&o.Pod, "pod", "", "the `NAME` of the pod; else the host's name as the trace has it")
	f.StringVar(&o.Build, "build", "", "the `NAME` of the build; else the executable's build id")
	f.BoolVar(&strict, "strict", false, "exit with code 3 if records were lost, or may have been, or overwritten in a ring")
	f.StringSliceVar(&names, "tables", nil, "only these tables, separated by commas: "+strings.Join(tableNames(), ", "))
	return cmd
}

// exportAll exports one trace after the other. An unreadable one does not stop the others.
// Damage is an error once all are exported; with strict, losses are too.
func exportAll(cmd *cobra.Command, files []string, out store.Store, o export.Options, strict bool) error {
	failed, damaged, lossy := 0, 0, 0
	for _, path := range files {
		r, err := export.Trace(cmd.Context(), path, out, o)
		for _, n := range slices.Concat(r.Notes, r.Lost, r.Damage) {
			fmt.Fprintf(cmd.ErrOrStderr(), "scopeview: %s: %s\n", path, n)
		}
		if len(r.Damage) > 0 {
			damaged++
		}
		if len(r.Lost) > 0 {
			lossy++
		}
		switch {
		case cmd.Context().Err() != nil:
			return cmd.Context().Err()
		case err != nil && len(files) == 1:
			return err
		case err != nil:
			failed++
			fmt.Fprintf(cmd.ErrOrStderr(), "scopeview: %v\n", err)
		case r.Already:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: run %s is there already\n", path, r.Run)
		default:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: run %s, %d scopes, %d rows\n", path, r.Run, r.Scopes, r.Rows)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d traces could not be exported", failed, len(files))
	}
	if damaged > 0 {
		return fmt.Errorf("damaged traces: %d of %d; what could be read of them was exported: copy them again if there is another copy, or see scopeview verify", damaged, len(files))
	}
	if strict && lossy > 0 {
		return &lossError{fmt.Errorf("traces that lack something: %d of %d", lossy, len(files))}
	}
	return nil
}

func tableNames() (names []string) {
	for _, t := range tables.All {
		names = append(names, t.Name)
	}
	return names
}
