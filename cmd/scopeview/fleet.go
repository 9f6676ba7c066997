package main

import "github.com/spf13/cobra"

func newExportParquet(s *streams) *cobra.Command {
	return newCompanion(s, "parquet TRACE... -o PLACE", "Write Parquet tables of many traces, into a directory or an object store",
		`parquet writes a trace's records into Parquet tables (scopes, events, counters, waits, holds, states, samples,
stacks, findings, heartbeats, histograms of durations), for DuckDB, Trino and other engines. PLACE is a directory,
or s3://BUCKET/PREFIX with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL in the environment.
docs/fleet.md lists tables and columns.`,
		`  scopeview export parquet x.scope -o fleet/
  scopeview export parquet snapshots/ -o s3://traces/fleet --service shop --host "$NODE_NAME" --pod "$POD_NAME"`,
		"parquet")
}

func newSQL(s *streams) *cobra.Command {
	return newCompanion(s, "sql QUESTION|FILE -d PLACE", "Ask DuckDB about the Parquet tables of a fleet",
		`sql asks a saved question, or SQL of your own, about the tables that scopeview export parquet has written.
--list lists the questions: p99-by-build, lock-holders, outlier-hosts, changed, request. --print prints SQL for
DuckDB or Trino.`,
		`  scopeview sql --list
  scopeview sql p99-by-build -d fleet/
  scopeview sql changed -d s3://traces/fleet --set before=v1.4.1 --set after=v1.4.2`,
		"sql")
}
