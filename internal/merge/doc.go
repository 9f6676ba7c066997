// Package merge merges the traces of several processes into one.
//
// # Design
//
//  1. The result is an ordinary trace, written from the events that the reader returns for each
//     input. So every command reads it, and it lacks whatever the inputs lack.
//  2. The records of an input go to chunks of their own, one input after the other. The
//     reader orders chunks by their time, whatever their place: the inputs need not be
//     interleaved, and memory is that of one input.
//  3. A goroutine's id has the number of its process in its upper bits: see input.goid.
//     A lock's address has it in bits that no address uses.
//  4. Inputs of one boot of one machine have one monotonic clock, and need no alignment.
//     They are a group. Groups are aligned by pairs of scopes: pairs.go finds them, fit.go
//     derives the relation of two clocks, align.go relates all clocks.
//  5. A fact of the trace names what is not merged: see left in facts.go.
package merge
