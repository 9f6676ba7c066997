// Package autofdo has sample profiles as Clang reads them with -fprofile-sample-use: LLVM's
// text format, which AutoFDO and llvm-profdata write too.
//
// # Design
//
//  1. What is accepted is what llvm-profdata 14 accepts, and read as it reads it, even where
//     that is an accident. The reader warns of each accident: what Clang sees is not what
//     the file's author meant. Two things are refused that LLVM 14 takes. A line without ": "
//     behind its offset loses a digit there. A context that is not in LLVM's own form, or is
//     beside functions without one, changes when it is written, or ends the tool.
//  2. Lenient reading brings a line into the strict form first, and says what it forgave.
//  3. What is written is parsed before it goes out. So Clang never reads it as something else.
//  4. Tests compare all of it with llvm-profdata and with Clang.
package autofdo
