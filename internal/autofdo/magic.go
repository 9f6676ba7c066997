package autofdo

import (
	"bytes"
	"strings"
)

// binaryMagic is the beginning of LLVM's binary profiles, after a byte for their kind and
// another byte.
const binaryMagic = "\xd0\xb1\xf4\xc9\x94\xa8\x53"

// Binary returns a sentence about a binary profile of LLVM's, recognized by its first bytes,
// with how to convert it; "" if it is not one.
func Binary(start []byte) string {
	if len(start) < 2+len(binaryMagic) || string(start[2:2+len(binaryMagic)]) != binaryMagic {
		return ""
	}
	return foreign(start)
}

// foreign returns a sentence about a file of another known format, recognized by its first
// bytes, with how to convert it; "" if it is none.
func foreign(start []byte) string {
	const convert = ": convert it with llvm-profdata merge --sample --text IN -o OUT"
	if len(start) >= 2+len(binaryMagic) && string(start[2:2+len(binaryMagic)]) == binaryMagic {
		switch start[0] & 0x7f {
		case 0x7f:
			return "this is a binary sample profile" + convert
		case 0x02:
			return "this is a compact binary sample profile" + convert + ", of LLVM 16 or older; newer ones no longer read it"
		case 0x04:
			return "this is an extensible binary sample profile" + convert
		}
		return "this is a binary sample profile of an unknown kind" + convert
	}
	for _, f := range []struct{ magic, what string }{
		{"adcg*704\x00", "this is a sample profile for GCC" + convert},
		{"\x1f\x8b", "this is a gzip file, as profiles in pprof's format are; Expected a profile in LLVM's text format: unpack it, or convert the pprof profile with scopeview autofdo write"},
		{"\xfflprofi\x81", "this is a profile of instrumented code, for -fprofile-use; Expected a sample profile"},
		{"PERFILE2", "this is perf's perf.data; Expected a profile in LLVM's text format: convert it with scopeview autofdo write"},
		{"\x7fELF", "this is a program or a library; Expected a profile in LLVM's text format"},
	} {
		if strings.HasPrefix(string(start), f.magic) {
			return f.what
		}
	}
	// A pprof profile begins with a sample type, which has two small numbers.
	if len(start) > 6 && start[0] == 0x0a && start[1] < 0x10 && start[2] == 0x08 && bytes.IndexByte(start[3:6], 0x10) >= 0 {
		return "this is a profile in pprof's format; Expected a profile in LLVM's text format: convert it with scopeview autofdo write"
	}
	return ""
}
