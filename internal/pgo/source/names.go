package source

import (
	"fmt"
	"go/types"
	"regexp"
	"strings"
)

// linkPath returns an import path as it is in the linker's names: after the last slash a dot is
// escaped, since it would end the path.
func linkPath(path string) string {
	slash := strings.LastIndexByte(path, '/')
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if c <= ' ' || c == '.' && i > slash || c == '%' || c == '"' || c >= 0x7F {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// linkPkg returns the linker's path of a package.
func linkPkg(p *types.Package) string {
	if p.Name() == "main" {
		return "main"
	}
	return linkPath(p.Path())
}

// fold replaces the type arguments in a name by [...]. The source has F[...] once, programs have
// F[go.shape.int] and more.
func fold(name string) string {
	i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']')
	if i < 0 || j <= i {
		return name
	}
	return name[:i] + "[...]" + name[j+1:]
}

// unfold returns a folded name with the type arguments of another. ok is false if only one of them
// is generic.
func unfold(folded, like string) (string, bool) {
	i, j := strings.IndexByte(like, '['), strings.LastIndexByte(like, ']')
	head, tail, generic := strings.Cut(folded, "[...]")
	if !generic {
		return folded, i < 0
	}
	if i < 0 || j <= i {
		return "", false
	}
	return head + like[i:j+1] + tail, true
}

// split cuts a folded name into the package's path and the rest. The path is "" if it is not a Go
// function.
func split(name string) (pkg, rest string) {
	head, _, _ := strings.Cut(name, "[")
	slash := strings.LastIndexByte(head, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 || strings.HasPrefix(name, "type:") || strings.HasPrefix(name, "go:") {
		return "", name
	}
	return name[:slash+dot], name[slash+dot+1:]
}

// base returns the last part of the name of a function or method: M for pkg.(*T).M.
func base(name string) string {
	_, rest := split(name)
	rest = strings.TrimSuffix(rest, "[...]")
	return rest[strings.LastIndexByte(rest, '.')+1:]
}

var (
	closureEnd = regexp.MustCompile(`(?:\.func|\.|-range)(\d+)$`)
	// wrapperEnd matches the ends of names of functions that the compiler generates from parts of
	// others, and cgo for C's.
	wrapperEnd = regexp.MustCompile(`(\.gowrap\d+|\.deferwrap\d+|-fm|\.map\.init\.\d+|\._C2?func_\w+)$`)
)

// parent returns the function that contains a closure, or "" if the name is not a closure's.
func parent(name string) string {
	end := closureEnd.FindString(name)
	if end == "" || name == end || strings.HasSuffix(name, ".init"+end) && !strings.HasPrefix(end, ".func") {
		return ""
	}
	return strings.TrimSuffix(name, end)
}

// outermost returns the outermost function that contains a closure, or the name itself if it is not
// a closure's.
func outermost(name string) string {
	for p := parent(name); p != ""; p = parent(name) {
		name = p
	}
	return name
}

// named returns the linker's name of a declared function or method, folded.
func named(pkg string, f *types.Func) string {
	sig := f.Signature()
	recv := sig.Recv()
	if recv == nil {
		if sig.TypeParams().Len() > 0 {
			return pkg + "." + f.Name() + "[...]"
		}
		return pkg + "." + f.Name()
	}
	t, pointer := types.Unalias(recv.Type()), false
	if p, ok := t.(*types.Pointer); ok {
		t, pointer = types.Unalias(p.Elem()), true
	}
	n, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	name := n.Obj().Name()
	if n.TypeParams().Len() > 0 {
		name += "[...]"
	}
	if pointer {
		name = "(*" + name + ")"
	}
	return pkg + "." + name + "." + f.Name()
}
