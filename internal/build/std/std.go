// Package std adds hooks to a copy of the standard library: before and after a goroutine
// waits, at the creation of one, and at the begin and the end of a request or a test. A
// program that is built with these files (go build -overlay) records all that without
// changes.
//
// # Design
//
// A hook is a variable, nil until package scope/hooks sets it, that a patched function
// checks. Patches insert text into existing lines, so no line moves, and add one file per
// package, which declares the variables. Fast paths do not change: hooks are where a
// goroutine parks, is created, or ends the program.
//
// # Invariants
//
//   - A patch is made only if the source is as expected: the function exists, and has the
//     text once. Otherwise the hook is off and reports that; it never breaks the build.
//   - All of a hook's patches are made or none, or a wait would begin and not end.
//   - The runtime calls a hook on the user's goroutine, with no lock of the runtime
//     held; otherwise the hook could neither grow the stack nor wait.
//   - GOROOT itself is only read.
package std

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Status is the state of a hook.
type Status struct {
	Name string // name of the hook
	What string // what it reports
	OK   bool   // it is enabled
	Why  string // reason why it is not
}

// Patches returns the files of GOROOT's standard library with hooks, by their path below
// goroot, and the file of package scope/hooks that sets them. version is the Go version of
// goroot; groups are the groups of diagnostics whose hooks are included; want selects hooks
// by name, nil all. An error is one of reading goroot.
func Patches(goroot, version string, groups []string, want func(hook string) bool) (files map[string][]byte, linked []byte, hooks []Status, err error) {
	files = map[string][]byte{}
	var in []*hook
	var off []Status // hooks for advice that are not possible
	for _, h := range slices.Concat(table, unwindTable, memoryTable, adviceTable, listsTable, threadTable, usesTable) {
		if h.group != "" && !slices.ContainsFunc(strings.Fields(h.group), func(g string) bool { return slices.Contains(groups, g) }) {
			continue
		}
		s := Status{Name: h.name, What: h.what}
		switch {
		case want != nil && !want(h.name):
			s.Why = "not wanted"
		case !supported(version):
			s.Why = "not tested with " + version
		default:
			changed, why, err := h.apply(goroot, files)
			if err != nil {
				return nil, nil, nil, err
			}
			s.OK, s.Why = why == "", why
			if !s.OK && h.group != "" {
				off = append(off, s)
			}
			if s.OK {
				for p, b := range changed {
					files[p] = b
				}
				in = append(in, &h)
			}
		}
		hooks = append(hooks, s)
	}
	for _, dir := range dirs(in) {
		files[path.Join("src", dir, "scopeview.go")] = added(dir, in)
	}
	for _, h := range in {
		for _, f := range h.added {
			files[path.Join("src", f.path)] = []byte(f.text)
		}
	}
	linked = link(in, off)
	for _, s := range hooks {
		if s.Name == Unwind {
			linked = fmt.Appendf(linked, "\nvar _ = collect.SetUnwinding(%q)\n", s.Why) // before an init starts a recording
		}
	}
	return files, linked, hooks, nil
}

// dirs returns the packages of the standard library that hooks add something to.
func dirs(in []*hook) (dirs []string) {
	for _, h := range in {
		for _, v := range h.vars {
			dirs = append(dirs, v.dir)
		}
		for _, c := range h.code {
			dirs = append(dirs, c.dir)
		}
	}
	slices.Sort(dirs)
	return slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool { return dir == hooksDir })
}

// supported reports whether hooks were tested with a version of Go, as returned by
// runtime.Version or go env GOVERSION.
func supported(version string) bool {
	return strings.HasPrefix(version, "go1.26") || strings.HasPrefix(version, "go1.27")
}

// apply makes a hook's edits, on top of the earlier hooks' files. why describes unexpected
// source; then nothing is changed.
func (h *hook) apply(goroot string, files map[string][]byte) (changed map[string][]byte, why string, err error) {
	changed = map[string][]byte{}
	for _, e := range h.edits {
		p := path.Join("src", e.file)
		text, ok := changed[p]
		if !ok {
			text, ok = files[p]
		}
		if !ok {
			if text, err = os.ReadFile(filepath.Join(goroot, filepath.FromSlash(p))); err != nil {
				if os.IsNotExist(err) {
					return nil, "there is no " + e.file, nil
				}
				return nil, "", fmt.Errorf("%w: the standard library can't be read, so it has no hooks; is GOROOT complete?", err)
			}
		}
		text, why := e.apply(text)
		if why != "" {
			return nil, fmt.Sprintf("%s: %s: %s", e.file, e.function, why), nil
		}
		changed[p] = text
	}
	return changed, "", nil
}

// added returns the file that declares what the hooks in a package need.
func added(dir string, in []*hook) []byte {
	var vars, code []string
	uses := []string{"unsafe"}
	for _, h := range in {
		for _, v := range h.vars {
			if v.dir == dir && !slices.Contains(vars, v.declare()) {
				vars = append(vars, v.declare())
			}
		}
		for _, c := range h.code {
			if c.dir == dir && !slices.Contains(code, c.text) {
				code = append(code, c.text)
				uses = append(uses, c.imports...)
			}
		}
	}
	if dir == walking.dir && !slices.Contains(code, walking.text) && strings.Contains(strings.Join(code, ""), "scopeviewWalk(") {
		code, uses = append(code, walking.text), append(uses, walking.imports...)
	}
	slices.Sort(uses)
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated by scopeview. DO NOT EDIT.\n\npackage %s\n\nimport (\n", path.Base(dir))
	for _, i := range slices.Compact(uses) {
		name := ""
		if i == "unsafe" && !strings.Contains(strings.Join(code, ""), "unsafe.") {
			name = "_ " // linkname requires it
		}
		fmt.Fprintf(&b, "\t%s%q\n", name, i)
	}
	b.WriteString(")\n")
	for _, part := range append(vars, code...) {
		b.WriteString("\n" + part + "\n")
	}
	return []byte(b.String())
}

// hooksDir is the package that the hooks call; what they add to it goes into the file that
// sets them.
const hooksDir = "scope/hooks"

// link returns the file added to package scope/hooks: it declares the standard library's
// variables, and sets them. It passes the missing hooks to package count.
func link(in []*hook, off []Status) []byte {
	var b, set strings.Builder
	var codes, uses []string
	seen := map[string]bool{}
	for _, h := range in {
		for _, v := range h.vars {
			if seen[v.dir+v.name] {
				continue
			}
			seen[v.dir+v.name] = true
			local := "std" + strings.TrimPrefix(v.name, "scopeview") + strings.NewReplacer("/", "", "internal", "i").Replace(v.dir)
			fmt.Fprintf(&b, "\n//go:linkname %s %s.%s\nvar %s %s\n", local, v.dir, v.name, local, v.typ)
			to, given := strings.CutPrefix(v.to, "&")
			if given || !strings.HasPrefix(v.typ, "func") {
				fmt.Fprintf(&set, "\t%s(&%s)\n", to, local)
			} else {
				fmt.Fprintf(&set, "\t%s = %s\n", local, to)
			}
		}
		for _, c := range h.code {
			if c.dir == hooksDir && !slices.Contains(codes, c.text) {
				codes = append(codes, c.text)
				uses = append(uses, c.imports...)
			}
		}
	}
	head := "// Code generated by scopeview. DO NOT EDIT.\n\n//go:build !scope_off\n\npackage hooks\n\nimport _ \"unsafe\" // for linkname\nimport \"github.com/scopeview/scopeview/internal/collect\"\n"
	for _, i := range uses {
		head += "import " + strconv.Quote(i) + "\n"
	}
	if slices.Contains(uses, count) {
		for _, h := range off {
			fmt.Fprintf(&set, "\tcount.Missing(%q, %q)\n", h.Name, h.Why)
		}
	}
	// The initialization of a variable comes before every init, of which one begins the recording: its
	// goroutines read what is set here.
	fmt.Fprintf(&b, "\nvar _ = func() int {\n%s\treturn 0\n}()\n", set.String())
	for _, text := range codes {
		b.WriteString("\n" + text + "\n")
	}
	return []byte(head + b.String())
}
