package ask

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/scopeview/scopeview/fleet/internal/tables"
)

var word = regexp.MustCompile(`[A-Za-z_]+`)

// Needs returns the tables that SQL mentions.
func Needs(sql string) (list []*tables.Table) {
	named := map[string]bool{}
	for _, w := range word.FindAllString(sql, -1) {
		named[strings.ToLower(w)] = true
	}
	for _, t := range tables.All {
		if named[t.Name] {
			list = append(list, t)
		}
	}
	return list
}

// quoted returns a name as an identifier; all names are those of tables.
func quoted(name string) string { return `"` + name + `"` }

func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// types are SQL's, by Type.
var types = map[tables.Type]string{
	tables.Time: "timestamp", tables.Word: "varchar", tables.Text: "varchar",
	tables.Int: "bigint", tables.Float: "double", tables.Bool: "boolean",
}

// DuckDB returns the views of tables in a local directory. A table without files has an
// empty view.
func DuckDB(list []*tables.Table, dir string, there func(*tables.Table) bool) string {
	var b strings.Builder
	for _, t := range list {
		fmt.Fprintf(&b, "create or replace temp view %s as select\n  ", quoted(t.Name))
		has := there(t)
		for _, c := range t.Columns {
			switch {
			case has:
				fmt.Fprintf(&b, "%s, ", quoted(c.Name))
			case c.Type == tables.Time:
				fmt.Fprintf(&b, "cast(null as timestamp_ns) as %s, ", quoted(c.Name))
			default:
				fmt.Fprintf(&b, "cast(null as %s) as %s, ", types[c.Type], quoted(c.Name))
			}
		}
		for i, p := range tables.Partitions {
			if i > 0 {
				b.WriteString(", ")
			}
			if has {
				b.WriteString(quoted(p))
			} else {
				fmt.Fprintf(&b, "cast(null as varchar) as %s", quoted(p))
			}
		}
		if has {
			fmt.Fprintf(&b, "\nfrom read_parquet(%s, hive_partitioning = true, hive_types_autocast = false);\n",
				text(globbed(dir)+"/"+t.Name+strings.Repeat("/*", len(tables.Partitions))+"/*.parquet"))
		} else {
			b.WriteString("\nwhere false;\n")
		}
	}
	return b.String()
}

// globbed returns a directory with the special characters of DuckDB's patterns escaped.
func globbed(dir string) string {
	return regexp.MustCompile(`[*?\[]`).ReplaceAllString(strings.TrimRight(dir, "/"), "[$0]")
}

// Trino returns the definitions of tables at a place, for its connector for Hive.
func Trino(list []*tables.Table, place string) string {
	var b strings.Builder
	b.WriteString("-- In the schema of a catalog for Hive, once, with hive.timestamp-precision=NANOSECONDS; and the\n-- CALLs again for each partition that has come.\n")
	for _, t := range list {
		fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (\n", quoted(t.Name))
		for _, c := range t.Columns {
			typ := types[c.Type]
			if c.Type == tables.Time {
				typ = "timestamp(9)"
			}
			fmt.Fprintf(&b, "  %s %s,\n", quoted(c.Name), typ)
		}
		var parts []string
		for i, p := range tables.Partitions {
			comma := ","
			if i == len(tables.Partitions)-1 {
				comma = ""
			}
			fmt.Fprintf(&b, "  %s varchar%s\n", quoted(p), comma)
			parts = append(parts, text(p))
		}
		fmt.Fprintf(&b, ") WITH (format = 'PARQUET', external_location = %s, partitioned_by = ARRAY[%s]);\n",
			text(strings.TrimRight(place, "/")+"/"+t.Name+"/"), strings.Join(parts, ", "))
		fmt.Fprintf(&b, "CALL system.sync_partition_metadata(schema_name => 'default', table_name => %s, mode => 'ADD');\n", text(t.Name))
	}
	return b.String()
}
