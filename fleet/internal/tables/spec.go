// Package tables defines the Parquet tables of a fleet, and writes rows to files.
package tables

import "slices"

// Type is the type of a column.
type Type uint8

const (
	Time Type = iota // ns since 1970 UTC
	Word             // a text shared by many rows
	Text             // a text shared by few rows
	Int
	Float
	Bool
)

// Column is a column of a table.
type Column struct {
	Name string
	Type Type
	Null bool // it may be null
}

// Table is one table of a fleet.
type Table struct {
	Name    string
	Columns []Column // the first is start_time, the second what rows are sorted by
}

// Partitions are the directories of a table, the outermost first. They are also columns, of
// type text.
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
	// Runs has a row for each exported trace. It is written last: without it the export of a
	// trace is incomplete.
	Runs = &Table{"runs", columns([]Column{start, {"program", Word, true}, {"until_time", Time, false}, {"began_time", Time, false},
		{"pid", Int, false}, {"ppid", Int, true}, {"boot", Word, true}, {"version", Word, true}, {"go", Word, true},
		{"scopes", Int, false}, {"lost", Int, false}, {"overwritten", Int, false}, {"closed", Bool, false},
		{"why", Text, true}}, whose)}
)

// All lists the tables.
var All = []*Table{Scopes, Events, Counters, Waits, Holds, States, Samples, Stacks, Findings, Heartbeats, Durations, Runs}

// Named returns a table by name; nil if there is none.
func Named(name string) *Table {
	for _, t := range All {
		if t.Name == name {
			return t
		}
	}
	return nil
}
