package count

import "github.com/scopeview/scopeview/internal/advice/row"

// Built is the number of successive concatenations from which a string counts as built by
// them: a few steps in a row are an expression.
const Built = 8

// concatStrings handles a concatenation: the result's length; the length of the operand that
// is itself the result of such steps, and the number of these, up to 255; and whether it is
// not the first operand.
func concatStrings(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := use(row.Concat, 0, int64(a[0]), weight, pcs)
	if t == nil || a[2] < Built {
		return
	}
	add(t, row.Grown, weight)
	add(t, row.Copied, weight*int64(a[1]))
	add(t, row.AllocBytes, weight*int64(a[0]))
	if a[3] != 0 {
		add(t, row.Front, weight)
	}
}

// convertString handles a conversion that copies: the bytes allocated, the type of the
// result, and whether runes are involved.
func convertString(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := use(row.Convert, a[1], int64(a[0]), weight, pcs)
	if t == nil {
		return
	}
	add(t, row.Allocs, weight)
	add(t, row.AllocBytes, weight*int64(a[0]))
	if a[2] != 0 {
		add(t, row.OfRunes, weight)
	}
}

// compileRegexp handles the compilation of a regular expression: the pattern's length,
// whether it had been compiled before, and the time in ns.
func compileRegexp(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := use(row.Compile, 0, int64(a[0]), weight, pcs)
	if t == nil || a[1] == 0 {
		return
	}
	add(t, row.Recompiled, weight)
	add(t, row.RecompiledBytes, weight*int64(a[0]))
	add(t, row.NS, weight*int64(a[2]))
}

// boxValue handles a value that was allocated for an interface: its size, and its type.
func boxValue(a *[8]uintptr, weight int64, pcs []uintptr) {
	t := use(row.Box, a[1], int64(a[0]), weight, pcs)
	if t == nil {
		return
	}
	add(t, row.Allocs, weight)
	add(t, row.AllocBytes, weight*int64(a[0]))
}

// use counts a use of a size in the row of its kind and call stack: nil if there is no room
// for it.
func use(k row.Kind, typ uintptr, size, weight int64, pcs []uintptr) *tally {
	s := c.rows.of(k, typ, pcs)
	if s == nil {
		return nil
	}
	t := &s.Stats
	add(t, row.Made, weight)
	most(t, row.MaxLen, size)
	least(t, row.MinLen, size)
	see(t, row.Len, size, weight)
	return t
}

// plain returns the name of the type of the runtime's own conversions.
func plain(typ string) string {
	switch typ {
	case "runtime.stringInterfacePtr":
		return "string"
	case "runtime.sliceInterfacePtr":
		return "slice"
	case "runtime.uint16InterfacePtr":
		return "16-bit number"
	case "runtime.uint32InterfacePtr":
		return "32-bit number"
	case "runtime.uint64InterfacePtr":
		return "64-bit number"
	}
	return typ
}
