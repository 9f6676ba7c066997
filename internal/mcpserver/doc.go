// Package mcpserver answers the questions of a language model about traces, over the Model
// Context Protocol: what there is, what is wrong, where the time went, who waited for what, which
// executions were slow, what changed, what a line cost. Each answer is a report of the command
// line, brief.
//
// # Design
//
// Who asks is not trusted, and neither is a trace: names in it may be sentences that are meant for
// the model.
//
//  1. Only what the command line names is read. Each directory is an os.Root, so that neither
//     ".." nor a link leads out of it, whatever changes meanwhile. Only regular files that are
//     called like traces are opened. A trace is read from its file alone: memory of a running
//     program and other files of the same trace are not looked for.
//  2. Sources are read from the trace, and below the directories that are given for that. No
//     program is run, not even the go command, and no executable is read.
//  3. Nothing is written, no recording is controlled, and nothing is asked of the network.
//  4. One call is answered at a time. Each has an end: a time, an amount of memory, a size of
//     its answer. The client can call it off.
//  5. A line that is no message is answered with an error, and the next one is read: see lines.
//  6. What is of the trace stands in code in an answer: see report.Brief.
package mcpserver
