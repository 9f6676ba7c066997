// Package scopeprom exports a recording's statistics and the durations of scopes to Prometheus:
//
//	c, err := scopeprom.NewCollector("checkout,store.*") // or "": only the statistics
//	prometheus.MustRegister(c)
//	http.Handle("/metrics", promhttp.Handler())
//
// It adds nothing to the hot path: each scrape reads what was added to the trace since the last
// one, for half a second at most. The next scrape reads the rest; until then
// scopeview_reading_behind is 1. scopeview_unread_chunks_total counts the chunks of 64 KiB that
// a ring overwrote before they were read; their scopes are in no histogram.
//
// The durations are scopeview_scope_duration_seconds, a native histogram without classic
// buckets, which Prometheus scrapes in protobuf format. Its labels are name, of which the first
// 1,000 are kept and the others are (other names), and kind: task, process, wait or hold. A
// scope is counted when it has ended. A scope with a link leaves an exemplar with its trace_id.
//
// The other metrics are those of scope.Stats. They restart with each recording.
package scopeprom
