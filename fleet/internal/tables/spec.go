// Package tables has the Parquet tables of a fleet: what columns they have, and how rows
// become files.
//
// # Design
//
//  1. A table is a row of All. What writes rows, the views of DuckDB and the DDL of Trino
//     are made of it. Otherwise the three would differ.
//  2. A value is an int64 until it is written: of a Word the index into Words, of a Text one
//     into the batch's own strings. Otherwise a row of scopes would be 300 bytes of Go strings.
//  3. Rows are sorted in runs of runRows by name and then by time, and a run is cut into row
//     groups. So a row group has few names and a short stretch of time, and the statistics
//     in a file's footer tell an engine which ones it needs. Memory is one run per file
//     that is written, whatever the trace is.
//  4. The first column of each table is start_time, and a row belongs to the UTC date of it.
package tables

import "slices"

// Type is what a column holds.
type Type uint8

const (
	Time Type = iota // ns since 1970 UTC
	Word             // a text that many rows share
	Text             // a text that few rows share
	Int
	Float
	Bool
)

// Column is a column of a table.
type Column struct {
	Name string
	Type Type
	Null bool // it may be unknown
}

// Table is one table of a fleet.
type Table struct {
	Name    string
	Columns []Column // the first is start_time, the second what rows are sorted by
}

// Partitions are the directories of a table, the outermost first. They are columns too,
// of type text.
var Partitions = []string{"service", "date", "host", "run"}

func columns(parts ...[]Column) []Column { return slices.Concat(parts...) }

var (
	start = Column{"start_time", Time, false}
	took  = Column{"duration_ns", Int, true}

	where = []Column{{"track", Word, true}, {"goroutine", Int, true}, {"thread", Int, true}, {"depth", Int, false}}
	cpu   = []Column{{"cpu_ns", Int, true}, {"cpu_quality", Word, false}}
	open  = Column{"is_open", Bool, false}
	link  = []Column{{"trace_id", Text, true}, {"span_id", Text, true}, {"parent_id", Text, true}}
	args  = Column{"args", Text, true}
	whose = []Column{{"build", Word, true}, {"pod", Word, true}}
	often = Column{"weight", Float, false}
)

// The tables.
var (
	Scopes = &Table{"scopes", columns([]Column{start, {"name", Word, false}, took}, cpu, where,
		[]Column{open, {"kind", Word, false}}, link, []Column{args}, whose, []Column{often})}
	Events = &Table{"events", columns([]Column{start, {"name", Word, false}}, where,
		[]Column{open}, link, []Column{args}, whose, []Column{often})}
	Counters = &Table{"counters", columns([]Column{start, {"name", Word, false}, {"value", Float, false}}, where, whose)}
	Waits    = &Table{"waits", columns([]Column{start, {"name", Word, false}, took}, where,
		[]Column{open, {"within", Word, true}, {"holder", Int, true}, {"holder_within", Word, true}, args}, whose, []Column{often})}
	Holds = &Table{"holds", columns([]Column{start, {"name", Word, false}, took}, where,
		[]Column{open, {"within", Word, true}, args}, whose, []Column{often})}
	States = &Table{"states", columns([]Column{start, {"state", Word, false}, took, {"goroutine", Int, true}, {"thread", Int, true},
		{"on_cpu", Bool, false}, {"reason", Word, true}, {"place", Word, true}, {"woken_by", Int, true}}, whose)}
	Samples = &Table{"samples", columns([]Column{start, {"metric", Word, false}, took, {"value", Int, false}, {"goroutine", Int, true},
		{"thread", Int, true}, {"stack", Int, false}}, whose)}
	Stacks = &Table{"stacks", columns([]Column{start, {"func", Word, false}, {"stack", Int, false}, {"level", Int, false},
		{"file", Word, true}, {"line", Int, true}}, whose)}
	Findings = &Table{"findings", columns([]Column{start, {"verdict", Word, false}, took, {"object", Text, true}, {"text", Text, false},
		{"evidence", Text, true}, {"share", Float, false}, {"gain", Float, true}, {"confidence", Float, false}}, whose)}
	Heartbeats = &Table{"heartbeats", columns([]Column{start, {"field", Word, false}, {"value", Int, false}}, whose)}
	// Durations has an exponential histogram of each name and minute: see package histogram.
	Durations = &Table{"durations", columns([]Column{start, {"name", Word, false}, {"kind", Word, false}, {"scale", Int, false},
		{"bucket", Int, false}, {"n", Int, false}, {"sum_ns", Int, false}}, whose, []Column{often})}
	// Runs has a row for each trace that was exported. It is written last: a trace without
	// one is not there in full.
	Runs = &Table{"runs", columns([]Column{start, {"program", Word, true}, {"until_time", Time, false}, {"began_time", Time, false},
		{"pid", Int, false}, {"ppid", Int, true}, {"boot", Word, true}, {"version", Word, true}, {"go", Word, true},
		{"scopes", Int, false}, {"lost", Int, false}, {"overwritten", Int, false}, {"closed", Bool, false},
		{"why", Text, true}}, whose)}
)

// All lists the tables.
var All = []*Table{Scopes, Events, Counters, Waits, Holds, States, Samples, Stacks, Findings, Heartbeats, Durations, Runs}

// Named returns a table by its name, nil without one.
func Named(name string) *Table {
	for _, t := range All {
		if t.Name == name {
			return t
		}
	}
	return nil
}
