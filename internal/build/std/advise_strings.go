package std

import "github.com/scopeview/scopeview/internal/advice/row"

// untyped is scopeviewThin's type for uses that are no containers: their growth is not
// looked up by a mark.
const untyped = "32"

// concatenating has the functions that report concatenations. Strings that result from one
// are stored in a table by their address and length: a stale entry makes a chain too long by
// at most one. The place of the code is derived from two return addresses, as small
// concatenations pass through one more function.
var concatenating = code{dir: "runtime", imports: []string{"unsafe"}, text: `var scopeviewBuilt [4096]uint64

func scopeviewString(s string) (key uint64, at uint64) {
	key = uint64(uintptr(unsafe.Pointer(unsafe.StringData(s))))<<16 | uint64(uint8(len(s)))<<8
	return key, key * 0x9e3779b97f4a7c15 >> 52
}

//go:noinline
func scopeviewConcat(s string, a []string) {
	var steps, old, behind uintptr
	front := true
	for _, x := range a {
		if len(x) == 0 {
			continue
		}
		key, at := scopeviewString(x)
		if e := scopeviewBuilt[at]; e&^0xff == key && uintptr(len(x)) > old {
			steps, old, behind = uintptr(e&0xff), uintptr(len(x)), 1
			if front {
				behind = 0
			}
		}
		front = false
	}
	if steps < 255 {
		steps++
	}
	key, at := scopeviewString(s)
	scopeviewBuilt[at] = key | uint64(steps)
	var place uintptr
	if framepointer_enabled {
		fp := *(*uintptr)(unsafe.Pointer(getfp()))
		lo := getg().stack.lo
		size := getg().stack.hi - lo - 16
		if fp-lo <= size { // else assembly or C has changed it
			place = *(*uintptr)(unsafe.Pointer(fp + 8))
			if fp = *(*uintptr)(unsafe.Pointer(fp)); fp-lo <= size {
				place ^= *(*uintptr)(unsafe.Pointer(fp + 8)) << 1
			}
		}
	}
	scopeviewThin(` + number(row.ConcatStrings) + `, place, ` + untyped + `, uintptr(len(s)), old, steps, behind, 0, 0, 0)
}`}

// rwing has the function that reports a read or write of a file, and whether it closely
// follows one of the same kind. A goroutine that has read less than requested is
// communicating, and its next write is a reply. The last operations are stored in tables by
// file, and by goroutine: those that share an entry follow none.
var rwing = code{dir: "runtime", imports: []string{"unsafe"}, text: `var scopeviewRW [256]struct { key uint32; short bool; end int64 }

//go:linkname scopeviewFile
func scopeviewFile(what uint32, fd, n, asked uintptr, began int64) {
	end := nanotime()
	h := uint64(fd) * 0x9e3779b97f4a7c15
	key := uint32(h>>16)<<8 | what
	last, mine := &scopeviewRW[h>>56], &scopeviewRW[uint8(getg().goid)]
	follows := uintptr(0)
	if last.key == key && began - last.end < 20000 && !(mine.short && what == ` + number(row.WriteFile) + `) {
		follows = 1
	}
	last.key, last.end, mine.short = key, end, n < asked && what == ` + number(row.ReadFile) + `
	scopeviewThin(what, fd, ` + untyped + `, n, asked, follows, uintptr(end-began), 0, 0, 0)
}`}

// compiling has the function that reports the compilation of a regular expression, and
// whether the same one was compiled before: patterns are stored in a table by their hashes.
var compiling = code{dir: "regexp", imports: []string{"sync/atomic"}, text: `var scopeviewSeen [1024]atomic.Uint64

func scopeviewCompiled(expr string, began int64) {
	ns := scopeviewClock() - began
	h := uint64(len(expr))
	for i := 0; i < len(expr) && i < 1024; i++ {
		h = (h ^ uint64(expr[i])) * 0x100000001b3
	}
	h *= 0x9e3779b97f4a7c15
	again := uintptr(0)
	if scopeviewSeen[h>>54].Swap(h) == h {
		again = 1
	}
	scopeviewThin(` + number(row.CompileRegexp) + `, uintptr(h), ` + untyped + `, uintptr(len(expr)), again, uintptr(ns), 0, 0, 0, 0)
}`}

// allocated returns an edit that reports an allocation of a function of the runtime.
func allocated(file, function, at string, e row.Event, numbers string) edit {
	return edit{file: "runtime/" + file, function: function, at: at, behind: true,
		insert: "; if scopeviewCounter != nil { scopeviewThin(" + number(e) + ", sys.GetCallerPC(), " + untyped + ", " + numbers + ", 0, 0, 0, 0) }"}
}

// fileEdits returns the edits of a function that makes one system call for a read or write
// of p.
func fileEdits(function, call, behind string, e row.Event, asked string) []edit {
	return []edit{
		{file: "internal/poll/fd_unix.go", function: function, at: call, insert: "var scopeviewBegan int64; if scopeviewCounter != nil { scopeviewBegan = scopeviewClock() }; "},
		{file: "internal/poll/fd_unix.go", function: function, at: behind,
			insert: "if scopeviewBegan != 0 && n > 0 { scopeviewMoved(" + number(e) + ", fd, n, " + asked + ", scopeviewBegan) }; "},
	}
}

// usesTable has the hooks for uses of strings, buffers, allocations and files.
var usesTable = []hook{
	adviceHook("concat", Strings, "concatenations of strings", []edit{
		{file: "runtime/string.go", function: "concatstrings", at: "return s", last: true,
			insert: "if scopeviewCounter != nil && (buf == nil || l > len(buf)) { scopeviewConcat(s, a) }; "},
	}, nil, concatenating),
	adviceHook("convert", Strings, "conversions between string, []byte and []rune that copy", []edit{
		allocated("string.go", "slicebytetostring", "p = mallocgc(uintptr(n), nil, false)", row.ConvertString, "uintptr(n), uintptr(unsafe.Pointer(stringType)), 0"),
		allocated("string.go", "stringtoslicebyte", "b = rawbyteslice(len(s))", row.ConvertString, "uintptr(len(s)), uintptr(unsafe.Pointer(sliceType)), 0"),
		allocated("string.go", "stringtoslicerune", "a = rawruneslice(n)", row.ConvertString, "4*uintptr(n), 0, 1"),
		{file: "runtime/string.go", function: "slicerunetostring", at: "return s[:size2]",
			insert: "if scopeviewCounter != nil && (buf == nil || size1+3 > len(buf)) { scopeviewThin(" + number(row.ConvertString) + ", sys.GetCallerPC(), " + untyped + ", uintptr(size1), uintptr(unsafe.Pointer(stringType)), 1, 0, 0, 0, 0) }; "},
	}, nil),
	adviceHook("buffers", Strings, "arrays that a bytes.Buffer outgrows, and pieces that io.ReadAll puts together", []edit{
		{file: "bytes/buffer.go", function: "growSlice", at: "return b2[:i]", insert: "if scopeviewCounter != nil { scopeviewGrew(b, b2, i) }; "},
		{file: "io/io.go", function: "ReadAll", at: "final = append(final, b...)", behind: true, insert: "; if scopeviewCounter != nil { scopeviewRead(finalSize, len(chunks)+1) }"},
	}, []variable{counterIn("bytes"), counterIn("io")}, reports("bytes"), reports("io"),
		code{dir: "bytes", imports: []string{"unsafe"}, text: `func scopeviewGrew(b, to []byte, n int) {
	var x interface{} = byte(0)
	scopeviewNote(` + number(row.BufferGrow) + `, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(unsafe.Pointer(unsafe.SliceData(to))), uintptr(n), uintptr(cap(b)), uintptr(cap(to)), *(*uintptr)(unsafe.Pointer(&x)))
}`}, code{dir: "io", imports: []string{"unsafe"}, text: `func scopeviewRead(n, pieces int) {
	scopeviewThin(` + number(row.ReadAll) + `, 1, ` + untyped + `, uintptr(n), uintptr(pieces), 0, 0, 0, 0, 0)
}`}),
	adviceHook("regexps", Strings, "compilations of regular expressions", []edit{
		{file: "regexp/regexp.go", function: "compile", at: "re, err := syntax.Parse(expr, mode)", insert: "var scopeviewBegan int64; if scopeviewCounter != nil { scopeviewBegan = scopeviewClock() }; "},
		{file: "regexp/regexp.go", function: "compile", at: "return regexp, nil", insert: "if scopeviewBegan != 0 { scopeviewCompiled(expr, scopeviewBegan) }; "},
	}, []variable{counterIn("regexp")}, reports("regexp"), compiling),
	adviceHook("boxes", Allocations, "values that are allocated for an interface", []edit{
		allocated("iface.go", "convT", "x := mallocgc(t.Size_, t, true)", row.BoxValue, "t.Size_, uintptr(unsafe.Pointer(t)), 0"),
		allocated("iface.go", "convTnoptr", "x := mallocgc(t.Size_, t, false)", row.BoxValue, "t.Size_, uintptr(unsafe.Pointer(t)), 0"),
		allocated("iface.go", "convT16", "x = mallocgc(2, uint16Type, false)", row.BoxValue, "2, uintptr(unsafe.Pointer(uint16Type)), 0"),
		allocated("iface.go", "convT32", "x = mallocgc(4, uint32Type, false)", row.BoxValue, "4, uintptr(unsafe.Pointer(uint32Type)), 0"),
		allocated("iface.go", "convT64", "x = mallocgc(8, uint64Type, false)", row.BoxValue, "8, uintptr(unsafe.Pointer(uint64Type)), 0"),
		allocated("iface.go", "convTstring", "x = mallocgc(unsafe.Sizeof(val), stringType, true)", row.BoxValue, "unsafe.Sizeof(val), uintptr(unsafe.Pointer(stringType)), 0"),
		allocated("iface.go", "convTslice", "x = mallocgc(unsafe.Sizeof(val), sliceType, true)", row.BoxValue, "unsafe.Sizeof(val), uintptr(unsafe.Pointer(sliceType)), 0"),
	}, nil),
	adviceHook("pools", Allocations, "hits of sync.Pool, and values made by its New", []edit{
		{file: "sync/pool.go", function: "Pool.Get", at: "if x == nil && p.New != nil {",
			insert: "if scopeviewCounter != nil && x != nil { scopeviewThin(" + number(row.PoolGet) + ", uintptr(unsafe.Pointer(p)), " + untyped + ", uintptr(unsafe.Pointer(p)), 0, 0, 0, 0, 0, 0) }; "},
		{file: "sync/pool.go", function: "Pool.Get", at: "x = p.New()", instead: true,
			insert: "var scopeviewBegan int64; if scopeviewCounter != nil { scopeviewBegan = scopeviewClock() }; x = p.New(); if scopeviewBegan != 0 { scopeviewThin(" + number(row.PoolGet) +
				", uintptr(unsafe.Pointer(p)), " + untyped + ", uintptr(unsafe.Pointer(p)), 1, uintptr(scopeviewClock()-scopeviewBegan), 0, 0, 0, 0) }"},
		{file: "sync/pool.go", function: "Pool.Put", at: "l, _ := p.pin()",
			insert: "if scopeviewCounter != nil { scopeviewThin(" + number(row.PoolPut) + ", uintptr(unsafe.Pointer(p)), " + untyped + ", uintptr(unsafe.Pointer(p)), 0, 0, 0, 0, 0, 0) }; "},
	}, []variable{counterIn("sync")}, reports("sync")),
	adviceHook("files", InputOutput, "reads and writes of files and connections", append(
		fileEdits("FD.Read", "n, err := ignoringEINTRIO(syscall.Read, fd.Sysfd, p)", "err = fd.eofError(n, err)", row.ReadFile, "len(p)"),
		fileEdits("FD.Write", "n, err := ignoringEINTRIO(syscall.Write, fd.Sysfd, p[nn:max])", "if nn == len(p) {", row.WriteFile, "max-(nn-n)")...,
	), []variable{counterIn("internal/poll")}, rwing, reports("internal/poll"), code{dir: "internal/poll", imports: []string{"unsafe"}, text: `//go:linkname scopeviewFile runtime.scopeviewFile
func scopeviewFile(what uint32, fd, n, asked uintptr, began int64)

func scopeviewMoved(what uint32, fd *FD, n, asked int, began int64) {
	scopeviewFile(what, uintptr(unsafe.Pointer(fd)), uintptr(n), uintptr(asked), began)
}`}),
}
