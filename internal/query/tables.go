package query

import (
	"strings"

	"github.com/scopeview/scopeview/internal/format"
)

// Column is a column of a table.
type Column struct {
	Name string
	Type string // INTEGER, REAL, TEXT, or "" for a number of either kind
	Says string // a sentence; "" if the name says it
}

// Table is a table that questions can be about.
type Table struct {
	Name    string
	Says    string // a sentence
	Columns []Column
}

// Tables lists the tables.
func Tables() []Table {
	var list []Table
	for i := range tables {
		list = append(list, tables[i].Table)
	}
	return list
}

// table is a Table with its source of rows.
type table struct {
	Table
	fields []field       // of records: where each column is from
	kinds  []format.Kind // of records
	time   int           // column of a row's time
	// ordered means that rows come by time.
	ordered bool
	scan    func(*scan)
}

// field is a property of a record.
type field uint8

const (
	fieldKind field = iota
	fieldName
	fieldTrack
	fieldGoroutine
	fieldThread
	fieldDepth
	fieldStart
	fieldDur
	fieldCPU
	fieldCPUMax
	fieldOpen
	fieldValue
	fieldUser
	fieldSystem
	fieldLock
	fieldMode
	fieldHolder
	fieldArgs
)

// columns describes the fields, in the order in which tables have them.
var columns = [...]Column{
	fieldKind:      {"kind", "TEXT", ""}, // by the table
	fieldName:      {"name", "TEXT", "the scope's, counter's or lock's; of a Taskf the format"},
	fieldTrack:     {"track", "TEXT", "name of the goroutine's row"},
	fieldGoroutine: {"goroutine", "INTEGER", "number of the goroutine that began it"},
	fieldThread:    {"thread", "INTEGER", "number of the operating system's thread on which it began"},
	fieldDepth:     {"depth", "INTEGER", "number of scopes of its row that enclose it"},
	fieldStart:     {"start_ns", "INTEGER", "its begin, or its time, in ns from the trace's start"},
	fieldDur:       {"dur_ns", "INTEGER", "its duration; of an open one up to the last known moment; instants: 0; across a step of the clock: NULL"},
	fieldCPU:       {"cpu_ns", "INTEGER", "its CPU time, if that is exact or likely"},
	fieldCPUMax:    {"cpu_max_ns", "INTEGER", "an upper bound of its CPU time, if only that is known"},
	fieldOpen:      {"open", "INTEGER", "1: begun and not ended, or a pending event that has not happened; else 0"},
	fieldValue:     {"value", "", "the counter's value"},
	fieldUser:      {"user_ns", "INTEGER", "the process's CPU time in user mode"},
	fieldSystem:    {"sys_ns", "INTEGER", "the process's CPU time in the kernel"},
	fieldLock:      {"lock", "TEXT", "the lock's kind: lock, mutex, rwmutex, retry …"},
	fieldMode:      {"mode", "TEXT", "shared: with other readers; else NULL"},
	fieldHolder:    {"holder", "INTEGER", "the goroutine that had the lock when the wait began"},
	fieldArgs:      {"args", "TEXT", "its arguments, a JSON object: args ->> '0' is the first"},
}

// recordTable returns a table of records of some kinds.
func recordTable(name, says string, kinds []format.Kind, fields ...field) table {
	t := table{Table: Table{Name: name, Says: says}, fields: fields, kinds: kinds, ordered: true, scan: (*scan).records}
	for i, f := range fields {
		if f == fieldStart {
			t.time = i
		}
		t.Columns = append(t.Columns, columns[f])
		if f == fieldKind {
			t.Columns[i].Says = kindNames(kinds)
		}
	}
	return t
}

// begunFields are the fields of what is begun and ended.
var begunFields = []field{fieldName, fieldTrack, fieldGoroutine, fieldThread, fieldDepth, fieldStart, fieldDur, fieldCPU, fieldCPUMax, fieldOpen}

func begunAnd(more ...field) []field {
	return append(begunFields[:len(begunFields):len(begunFields)], more...)
}

var tables = []table{
	recordTable("records", "everything that the program recorded, in one table", []format.Kind{
		format.KindTask, format.KindTaskf, format.KindProcess, format.KindEvent, format.KindPending, format.KindCounter, format.KindWait, format.KindHold,
	}, fieldKind, fieldName, fieldTrack, fieldGoroutine, fieldThread, fieldDepth, fieldStart, fieldDur, fieldCPU, fieldCPUMax, fieldOpen, fieldArgs),
	recordTable("scopes", "scopes of goroutines: scope.Task, scope.Begin", []format.Kind{format.KindTask, format.KindTaskf}, begunAnd(fieldArgs)...),
	recordTable("processes", "scopes with the CPU time of the whole process: scope.Process", []format.Kind{format.KindProcess}, begunAnd(fieldUser, fieldSystem, fieldArgs)...),
	recordTable("events", "instants: scope.Event, and pending events", []format.Kind{format.KindEvent, format.KindPending},
		fieldKind, fieldName, fieldTrack, fieldGoroutine, fieldThread, fieldDepth, fieldStart, fieldOpen, fieldArgs),
	recordTable("counters", "values at moments: scope.Counter", []format.Kind{format.KindCounter}, fieldName, fieldTrack, fieldGoroutine, fieldThread, fieldDepth, fieldStart, fieldValue, fieldArgs),
	recordTable("waits", "waits for locks, from request to grant", []format.Kind{format.KindWait}, begunAnd(fieldLock, fieldMode, fieldHolder, fieldArgs)...),
	recordTable("holds", "holds of locks, from grant to release", []format.Kind{format.KindHold}, begunAnd(fieldLock, fieldMode, fieldArgs)...),
	{
		Table: Table{"states", "what each goroutine did at every moment; needs a Go execution trace (gotrace.With())", []Column{
			{"goroutine", "INTEGER", ""},
			{"track", "TEXT", "last name of the goroutine's row"},
			{"state", "TEXT", "cpu, runnable, lock, network and others of scopeview states"},
			{"start_ns", "INTEGER", ""}, {"dur_ns", "INTEGER", ""},
			{"cpu_ns", "INTEGER", "the time on a CPU, if it is known"},
			{"cpu_max_ns", "INTEGER", "an upper bound of it, if only that is known"},
			{"thread", "INTEGER", "while it runs, or is in a system call"},
			{"reason", "TEXT", "Go's word for a wait"},
			{"at", "TEXT", "its place in the program"},
			{"by", "INTEGER", "the goroutine that woke it at its end"},
			{"by_at", "TEXT", "that one's place"},
		}},
		time: stateStart, scan: (*scan).states,
	},
	{
		Table: Table{"samples", "samples of CPU time and of counters, and each wait, with the stack", []Column{
			{"time_ns", "INTEGER", "of the sample, or of the wait's begin"},
			{"goroutine", "INTEGER", ""}, {"thread", "INTEGER", ""},
			{"cpu", "INTEGER", "the system's CPU"},
			{"track", "TEXT", ""},
			{"scope", "TEXT", "the innermost one around it"},
			{"state", "TEXT", ""},
			{"metric", "TEXT", "cpu, lock, network and others of scopeview profile --by metric"},
			{"value", "INTEGER", "its weight in the metric: of a wait its length"},
			{"unit", "TEXT", "of value: nanoseconds, bytes, count"},
			{"function", "TEXT", "the innermost one"},
			{"stack", "TEXT", "functions, the innermost first, separated by ;"},
		}},
		ordered: true, scan: (*scan).samples,
	},
	{
		Table:   Table{"heartbeats", "what the recorder measured of the process, usually once a second", beatColumns()},
		ordered: true, scan: (*scan).beats,
	},
	{
		Table: Table{"trace", "facts about the recording", []Column{{"key", "TEXT", ""}, {"value", "TEXT", "of several with one key the last one holds"}}},
		time:  -1, scan: (*scan).facts,
	},
	{
		Table: Table{"columns", "the columns of these tables", []Column{{"in_table", "TEXT", ""}, {"name", "TEXT", ""}, {"type", "TEXT", ""}, {"says", "TEXT", ""}}},
		time:  -1, scan: (*scan).columns,
	},
}

func beatColumns() []Column {
	list := []Column{{"time_ns", "INTEGER", ""}}
	for _, f := range format.Fields {
		list = append(list, Column{Name: f.Name, Type: "INTEGER"})
	}
	return list
}

// kindNames lists the names of kinds.
func kindNames(kinds []format.Kind) string {
	var names []string
	for _, k := range kinds {
		if k != format.KindTaskf { // a task, too
			names = append(names, k.Spec().CSV)
		}
	}
	return strings.Join(names, ", ")
}

// tableOf returns the table with a name; nil: there is none.
func tableOf(name string) *table {
	for i := range tables {
		if tables[i].Name == name {
			return &tables[i]
		}
	}
	return nil
}

// declaration is the table in SQL.
func (t *Table) declaration() string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`"` + c.Name + `" ` + c.Type)
	}
	return b.String() + ")"
}
