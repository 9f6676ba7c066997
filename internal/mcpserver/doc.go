// Package mcpserver answers a language model's questions about traces over the Model Context
// Protocol: which traces there are, what is wrong, where the time went, which goroutines waited for
// what, which executions were slow, what changed, what a line cost. Each answer is a report of the
// command line in its brief form.
//
// # Design
//
// Neither the client nor a trace is trusted: names in a trace may be sentences meant for the model.
//
//  1. Only what the command line names is read. Each directory is an os.Root, so that neither
//     ".." nor a link leads out of it, even if they change meanwhile. Only regular files with the
//     extension of a trace are opened. A trace is read from its file alone, not from the memory of
//     a running program or from other files of the same trace.
//  2. Sources are read from the trace, and below the directories given for that. No program is
//     run, not even the go command, and no executable is read.
//  3. Nothing is written, no recording is controlled, and the network is not used.
//  4. One call is answered at a time. Each is limited in time, in memory, and in the size of its
//     answer. The client can cancel it.
//  5. A line that is not a message is answered with an error, and the next one is read: see lines.
//  6. Text from a trace appears as code in an answer: see report.Brief.
package mcpserver
