package main

import (
	"testing"

	"github.com/scopeview/scopeview/internal/show"
)

// recordSums and stateSums are questions for the sums that other views show.
const (
	recordSums = `
SELECT r.kind, r.name, r.open, count(*) AS records, count(dur_ns) AS n, sum(dur_ns) AS total, max(dur_ns) AS longest, sum(CASE WHEN dur_ns > 0 THEN cpu_ns END) AS cpu, sum(cpu_max_ns) AS cpu_max
FROM records r WHERE args ->> 'called_off' IS NULL GROUP BY r.kind, r.name, r.open`
	stateSums = `SELECT state, sum(dur_ns) AS total FROM states GROUP BY state`
)

// questionSums asks a trace for its sums in SQL.
func questionSums(t *testing.T, path string) facts {
	f := facts{}
	for _, r := range csvOf(t, path, "sql", path, recordSums, "--csv") {
		n, _ := number0(r["n"])
		total, _ := number0(r["total"])
		longest, known := number0(r["longest"])
		of := show.Name(r["name"])
		switch kind := r["kind"]; {
		case kind == "process" || kind == "task":
			if of = "scope " + of; kind == "process" {
				of += " (process)"
			}
			switch {
			case r["open"] == "1" && known:
				f.add(of+": open", n)
				f.add(of+": open_ns", total)
			case known:
				f.add(of+": count", n)
				f.add(of+": total_ns", total)
				f.most(of+": max_ns", longest)
				if cpu, ok := number0(r["cpu"]); ok {
					f.add(of+": cpu_ns", cpu)
				}
				if cpu, ok := number0(r["cpu_max"]); ok {
					f.add(of+": cpu_max_ns", cpu)
				}
			}
		case (kind == "wait" || kind == "hold") && known && r["open"] == "0":
			of = "lock " + of + ": " + kind
			f.add(of+"s", n)
			f.add(of+"_ns", total)
			f.most(of+"_max_ns", longest)
		case kind == "event" || kind == "counter":
			records, _ := number0(r["records"])
			f.add(kind+" "+of+": count", records)
		}
	}
	for _, r := range csvOf(t, path, "sql", path, stateSums, "--csv") {
		total, _ := number0(r["total"])
		f.add("states: "+r["state"], total)
	}
	return f
}
