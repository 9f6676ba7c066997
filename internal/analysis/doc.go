// Package analysis computes what the views show from the events of a trace. Its
// parts are fed event by event, in the reader's order (by start, a parent before
// its children), and their memory grows with the number of names, locks and
// scopes that run at once, never with the number of events:
//
//   - Summary: per name or per row the count, times, quantiles and CPU time, per
//     lock the waits, the holds and what ran while it was held
//   - Histogram: quantiles in bounded memory
//   - RecordingCost: the recorder's own CPU time, from the heartbeats
//   - Census: how many records there are of each kind, and which names look as if
//     the second () had been forgotten
//
// A number that the trace does not have is marked unknown and never shown as 0.
package analysis
