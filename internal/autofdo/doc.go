// Package autofdo reads, writes and converts sample profiles in the format that Clang reads
// with -fprofile-sample-use: LLVM's text format, which AutoFDO and llvm-profdata write too.
//
// # Design
//
//  1. The reader accepts what llvm-profdata 14 accepts, with the same result, even where
//     that is an accident. The reader warns of each accident: Clang reads something else than
//     the file's author meant. Two things are refused that LLVM 14 accepts. A line without ": "
//     after its offset loses a digit there. A context that is not in LLVM's own form, or is
//     next to functions without one, changes when it is written, or crashes the tool.
//  2. Lenient reading brings a line into the strict form first, and warns of what it forgave.
//  3. Each line is parsed before it is written. So Clang never reads it as something else.
//  4. A Profile is the format's tree of functions and lines. It has no stacks, so it can't be a
//     samples.Profile or a pgo.Profile; FromSamples and ToSamples convert.
//  5. Tests compare all of it with llvm-profdata and with Clang.
package autofdo
