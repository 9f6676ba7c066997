// Package pack makes traces small, and reads what it has made as if it were the trace.
// docs/packed.md has the format.
//
// # Design
//
//  1. What is packed are the bytes of the trace, all of them: what is unpacked is the same
//     file. So a packed trace can lose nothing by what this package does not understand, a
//     later version's records for instance, and readers need not know of it: a Reader is an
//     io.ReaderAt. Package hot has it read where it opens a file that is packed.
//  2. The model (model.go) goes over a chunk as its scopes began and ended, and says of each
//     number what is to be expected. What is stored is how far that was wrong: small numbers,
//     column by column, that zstd makes bytes of. One function serves both directions, so that
//     they can't come apart: packing, it gives numbers to columns; unpacking, it takes them.
//     Whatever does not fit the model is a place with 32 other bytes.
//  3. A group is unpacked at once as it is packed, and compared. Where it would come out
//     differently, which is a defect, its chunks are packed as bytes.
//  4. Groups are 2 MiB of chunks: a range of time is read without the rest. What is no records
//     comes first, and the chunks' headers are in a directory: opening a trace unpacks the names,
//     the heartbeats, and the newest chunks.
//  5. A group that is cut off or damaged reads as chunks that say so. Readers count and skip
//     these as they do chunks that make no sense, and have the others.
package pack
