package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// questions are the companion's saved questions.
var questions = []string{"changed", "lock-holders", "outlier-hosts", "p99-by-build", "request"}

func newExportParquet(s *streams) *cobra.Command {
	cmd := newCompanion(s, "parquet TRACE... -o PLACE", "Write Parquet tables of many traces, into a directory or an object store",
		`parquet writes a trace's records into Parquet tables (scopes, events, counters, waits, holds, states, samples,
stacks, findings, heartbeats, histograms of durations), for DuckDB, Trino and other engines. PLACE is a directory,
or s3://BUCKET/PREFIX with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL in the environment.
docs/fleet.md lists tables and columns.`,
		`  scopeview export parquet x.scope -o fleet/
  scopeview export parquet snapshots/ -o s3://traces/fleet --service shop --host "$NODE_NAME" --pod "$POD_NAME"`,
		"parquet")
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{"scope", "scopez"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return cmd
}

func newSQL(s *streams) *cobra.Command {
	cmd := newCompanion(s, "sql QUESTION|FILE -d PLACE", "Ask DuckDB about the Parquet tables of a fleet",
		`sql asks a saved question, or SQL of your own, about the tables that scopeview export parquet has written.
--list lists the questions: `+strings.Join(questions, ", ")+`. --print prints SQL for
DuckDB or Trino.`,
		`  scopeview sql --list
  scopeview sql p99-by-build -d fleet/
  scopeview sql changed -d s3://traces/fleet --set before=v1.4.1 --set after=v1.4.2`,
		"sql")
	cmd.ValidArgsFunction = cobra.FixedCompletions(questions, cobra.ShellCompDirectiveDefault)
	return cmd
}
