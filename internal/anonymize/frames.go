package anonymize

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/scopeview/scopeview/internal/format"
)

//go:embed std.txt
var stdText string

// std is the set of the standard library's packages.
var std = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, p := range strings.Fields(stdText) {
		m[p] = true
	}
	return m
})

var sourceFile = regexp.MustCompile(`^[A-Za-z0-9_]+\.(go|s)$`)

// frame hashes the function and the file of a frame, unless it is the standard library's: then the
// file is kept from the package on. size is the payload's length, which must not grow.
func (a *anonymizer) frame(f *format.Frame, size int) {
	if pkg := packageOf(f.Function); std()[pkg] {
		dir, base := "", f.File
		if i := strings.LastIndexAny(f.File, `/\`); i >= 0 {
			dir, base = strings.ReplaceAll(f.File[:i], `\`, "/"), f.File[i+1:]
		}
		if (dir == pkg || strings.HasSuffix(dir, "/src/"+pkg)) && sourceFile.MatchString(base) {
			f.Function, f.File = withoutTypes(f.Function), pkg+"/"+base
			return
		}
	}
	f.Function, f.File = a.hash.text("function", f.Function), a.hash.text("file", f.File)
	if room := (size+7)&^7 - 16; len(f.Function)+len(f.File) > room { // two texts of a few bytes
		n := min(len(f.Function), room/2)
		f.Function, f.File = f.Function[:n], f.File[:min(len(f.File), room-n)]
	}
}

// packageOf returns the package of a function.
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[") // type arguments, which have packages too
	slash := strings.LastIndexByte(function, '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return ""
	}
	return function[:slash+dot]
}

// withoutTypes returns a function's name without its type arguments.
func withoutTypes(function string) string {
	from, to := strings.IndexByte(function, '['), strings.LastIndexByte(function, ']')
	if from < 0 {
		return function
	}
	switch {
	case to < from:
		return function[:from]
	case to-from < len("[..."): // it must not become longer
		return function[:from] + "[]" + function[to+1:]
	}
	return function[:from] + "[...]" + function[to+1:]
}
