// Package merge makes one trace of the traces of several processes.
//
// # Design
//
//  1. What is written is an ordinary trace, by the events that the reader gives of each input.
//     So every command reads it, and whatever the inputs lack is missing in it as it is there.
//  2. The records of an input go to chunks of their own, one input after the other. The
//     reader orders chunks by their time, whatever their place: the inputs need not be
//     interleaved, and memory is that of one input.
//  3. A goroutine's id has the number of its process in its upper bits: see input.goid.
//     A lock's address has it in those that no address uses.
//  4. Inputs of one boot of one machine have one monotonic clock, and need no alignment.
//     They are a group. Groups are aligned by pairs of scopes: pairs.go finds them, fit.go
//     says what they tell of two clocks, align.go puts all clocks together.
//  5. What is not merged is told by a fact of the trace: see left in told.go.
package merge
