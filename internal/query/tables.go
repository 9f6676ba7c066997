package query

// sources are the tables that are read from the trace.
var sources = []*source{records, stateTable, sampleTable}

// view is a table made of others.
type view struct {
	Table
	sql string
}

// views select the records of a kind.
var views = []view{
	of("scopes", "Scopes of goroutines.", "kind = 'task'", scopeColumns...),
	of("processes", "Scopes of whole processes.", "kind = 'process'", scopeColumns...),
	of("events", "Moments.", "kind IN ('event', 'pending')", "kind", "name", "track", "goroutine", "thread", "start_ns", "open", "args"),
	of("counters", "Values of counters.", "kind = 'counter'", "name", "goroutine", "start_ns", "value"),
	of("waits", "Waits for locks.", "kind = 'wait'", lockColumns...),
	of("holds", "Holds of locks.", "kind = 'hold'", lockColumns...),
}

var (
	scopeColumns = []string{"name", "track", "goroutine", "thread", "depth", "start_ns", "dur_ns", "cpu_ns", "cpu_max_ns", "open", "args"}
	lockColumns  = []string{"name", "track", "goroutine", "thread", "start_ns", "dur_ns", "open", "args"}
)

// of returns a view of some columns of table records.
func of(name, says, where string, columns ...string) view {
	v := view{Table: Table{Name: name, Says: says}}
	list := ""
	for _, c := range columns {
		for _, x := range records.Columns {
			if x.Name == c {
				v.Columns = append(v.Columns, x)
			}
		}
		if list += quoted(c); c != columns[len(columns)-1] {
			list += ", "
		}
	}
	v.sql = "SELECT " + list + " FROM records WHERE " + where
	return v
}

// Tables returns the tables with their columns.
func Tables() (list []Table) {
	for _, v := range views {
		list = append(list, v.Table)
	}
	for _, s := range sources {
		list = append(list, s.Table)
	}
	return list
}
