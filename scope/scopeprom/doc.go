// Package scopeprom tells Prometheus how a recording goes, and how long scopes take:
//
//	c, err := scopeprom.NewCollector("checkout,store.*") // or "": only how the recording goes
//	prometheus.MustRegister(c)
//	http.Handle("/metrics", promhttp.Handler())
//
// Nothing of it is on the hot path: each scrape reads what came into the trace since the last
// one, for half a second at most. What is left then is read by the next scrape, and
// scopeview_reading_behind is 1. Of what a ring had overwritten before it was read
// scopeview_unread_chunks_total counts the chunks of 64 KiB; its scopes are in no
// histogram.
//
// The durations are scopeview_scope_duration_seconds, a native histogram without classic
// buckets, which Prometheus scrapes in protobuf format. Its labels are name, of which the
// first 1,000 are kept and the others are (other names), and kind: task, process, wait or hold.
// A scope counts when it has ended. One with a link leaves an exemplar with its trace_id.
//
// The other numbers are those of scope.Stats. They begin anew with each recording.
package scopeprom
