// Package pack compresses traces, and reads compressed ones as if they were the traces.
// docs/packed.md has the format.
//
// # Design
//
//  1. A packed trace holds the bytes of the trace, all of them: unpacking gives the same
//     file. So packing loses nothing that this package does not understand, such as a later
//     version's records, and readers need no change: a Reader is an io.ReaderAt. Package hot
//     uses it when it opens a packed file.
//  2. The model (model.go) goes over a chunk as its scopes began and ended, and predicts each
//     number. Only the prediction errors are stored: small numbers, column by column, which
//     zstd compresses. One function serves both directions, so that they can't diverge:
//     when packing it adds numbers to columns, when unpacking it takes them. Whatever does
//     not fit the model is stored as 32 raw bytes.
//  3. A group is unpacked right after it is packed, and compared. If it differs, which is a
//     defect, its chunks are packed as bytes.
//  4. Groups are 2 MiB of chunks: a range of time is read without the rest. Chunks without
//     records come first, and the chunks' headers are in a directory: opening a trace unpacks
//     the names, the heartbeats, and the newest chunks.
//  5. A group that is cut off or damaged reads as chunks marked as lost. Readers count and
//     skip these as they do chunks that make no sense, and read the others.
package pack
