package build

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/module"

	"github.com/scopeview/scopeview/internal/build/std"
)

// Names of files added to packages.
const (
	mainFile = "zz_scopeview_main.go"
	testFile = "zz_scopeview_test.go"
)

// maker makes a plan.
type maker struct {
	o    Options
	verb Verb
	line *Line
	env  *environment
	plan *Plan

	overlay overlay
	left    map[string]*Left
	copies  map[string]string // directories of copied modules, by module path
	profile profile
}

func (m *maker) make(ctx context.Context) (err error) {
	p := m.plan
	p.Dir, p.Version = m.o.Dir, m.env.GOVERSION
	p.Flags, p.Packages, p.Rest = m.line.Flags, m.line.Packages, m.line.Rest
	if m.line.Covering() {
		p.Covered = []editing{}
		p.Self = m.o.Self
		if p.Toolexec, err = unquoted(m.line.Value("toolexec")); err != nil {
			return fmt.Errorf("-toolexec: %w", err)
		}
		p.Flags = without(p.Flags, "toolexec")
	}
	p.Output = m.line.Value("o")
	p.Unstamped = m.line.Value("buildvcs") == "false"
	if m.verb == Run {
		if p.Exec, err = m.runner(); err != nil {
			return err
		}
		p.Flags = without(p.Flags, "exec")
		p.Shown = m.line.True("n")
	}
	m.left, m.copies = map[string]*Left{}, map[string]string{}
	var theirs string
	if m.overlay, theirs, err = theirOverlay(m.env, m.line, m.o.Dir); err != nil {
		return err
	}
	if theirs != "" {
		p.from(theirs)
		p.Flags = without(p.Flags, "overlay")
	}
	if err := m.toolchain(); err != nil {
		return err
	}
	if vendored(m.env, m.line) {
		p.Flags = append([]string{"-mod=readonly"}, without(p.Flags, "mod")...)
		m.line.listed = append([]string{"-mod=readonly"}, without(m.line.listed, "mod")...)
	}
	packages, err := list(ctx, m.o.Dir, m.verb, m.line.listed, p.Packages)
	if err != nil {
		return err
	}
	if err := m.roots(packages); err != nil {
		return err
	}
	if p.Profile != "" {
		if m.profile, err = readProfile(p.Profile); err != nil {
			return fmt.Errorf("the profile of functions that are called often: %w; -pgo=off builds without", err)
		}
	}
	if err := m.edit(packages); err != nil {
		return err
	}
	dir, err := m.modules(ctx)
	if err != nil {
		return err
	}
	if err := m.standard(dir); err != nil {
		return err
	}
	for _, l := range m.left {
		slices.Sort(l.Names)
		p.Left = append(p.Left, *l)
	}
	slices.SortFunc(p.Left, func(a, b Left) int { return strings.Compare(a.Why, b.Why) })
	if err := m.entries(packages); err != nil {
		return err
	}
	m.choices()
	if p.Overlay, err = m.o.Cache.keep("overlay.json", m.overlay.encode()); err != nil {
		return err
	}
	for _, path := range append(slices.Collect(maps.Values(m.copies)), p.Overlay) {
		if err := p.keeps(path); err != nil {
			return err
		}
	}
	return nil
}

// runner returns the command that runs a program: -exec, or for another system what go run
// would use.
func (m *maker) runner() ([]string, error) {
	if x := m.line.Value("exec"); x != "" {
		words, err := unquoted(x)
		if err != nil {
			return nil, fmt.Errorf("-exec: %w", err)
		}
		return words, nil
	}
	e := m.env
	if e.GOOS == e.GOHOSTOS && e.GOARCH == e.GOHOSTARCH {
		return nil, nil
	}
	path, err := exec.LookPath("go_" + e.GOOS + "_" + e.GOARCH + "_exec")
	if err != nil {
		return nil, fmt.Errorf("a program for %s/%s can't run here: use -exec, put go_%[1]s_%[2]s_exec into PATH, or build it with scopeview build", e.GOOS, e.GOARCH)
	}
	return []string{path}, nil
}

// choices adds the inputs that the go command's own environment depends on: the command, its
// settings, and the actual or possible places of go.mod, go.work and a vendor directory.
func (m *maker) choices() {
	p := m.plan
	p.from(m.env.GOENV, filepath.Join(m.env.GOROOT, "VERSION"), p.Go, m.env.vendor())
	for dir := m.o.Dir; ; dir = filepath.Dir(dir) {
		p.from(filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.work"))
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// toolchain selects the go command.
func (m *maker) toolchain() error {
	p := m.plan
	var err error
	if p.Go, err = exec.LookPath("go"); err != nil {
		return fmt.Errorf("the go command is needed: %w", err)
	}
	if within(m.env.GOROOT, m.env.GOMODCACHE) {
		root, err := m.o.Cache.ownRoot(m.env.GOROOT, m.env.GOVERSION)
		if err != nil {
			return fmt.Errorf("the toolchain %s is in the module cache, where overlays do not apply, and a GOROOT of links to it can't be created: %w", m.env.GOROOT, err)
		}
		m.env.GOROOT, p.Go = root, filepath.Join(root, "bin", "go")
		p.Env = append(p.Env, "GOROOT="+root, "GOTOOLCHAIN=local")
	}
	return nil
}

// roots examines the named packages: whether they can be run, and the compiler's flags for
// them.
func (m *maker) roots(packages []*listed) error {
	roots := 0
	for _, x := range packages {
		if x.DepOnly {
			continue
		}
		if roots++; x.Name == "main" && roots == 1 && !asksMore(m.env.flags()) {
			m.plan.Main, m.plan.Name = x.Dir, executableName(x, m.env.GOOS)
		} else {
			m.plan.Main = ""
		}
		if m.verb == Run {
			if x.Name != "main" && x.Error == nil {
				return fmt.Errorf("package %s is not a main package: there is nothing to run", x.ImportPath)
			}
			if m.plan.Root != "" {
				return fmt.Errorf("go run takes one package, and %s names several", strings.Join(m.line.Packages, " "))
			}
			m.plan.Root = x.ImportPath
			if prefix, major, ok := module.SplitPathVersion(x.ImportPath); ok && strings.HasPrefix(major, "/") {
				m.plan.Root = prefix // the go command's name of its output
			}
			if x.ImportPath == "command-line-arguments" {
				m.plan.Root = strings.TrimSuffix(filepath.Base(m.line.Packages[0]), ".go")
			}
		}
		profile := m.line.Value("pgo")
		switch {
		case profile == "off":
			profile = ""
		case profile == "" || profile == "auto":
			profile = filepath.Join(x.Dir, "default.pgo")
		case !filepath.IsAbs(profile):
			profile = filepath.Join(m.o.Dir, profile)
		}
		if profile != "" && x.Name == "main" {
			m.plan.from(profile)
			if stat(profile) != (at{}) {
				m.plan.Profile = profile
			}
		}
	}
	return nil
}

// recorders reports whether a package is the recorder's, if that is in the main module.
func recorders(x *listed) bool {
	rest, ok := strings.CutPrefix(x.ImportPath, Module+"/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains([]string{"scope", "internal", "mmpool", "flusher", "sweeper"}, first)
}

// edit makes the traced packages record scopes.
func (m *maker) edit(packages []*listed) error {
	traced, err := matcher(m.o.Dir, m.o.Trace)
	if err != nil {
		return err
	}
	if err := m.cached(packages); err != nil {
		return err
	}
	matched := 0
	var looked []*listed
	for _, x := range packages {
		if !x.Standard && len(x.CgoFiles) > 0 {
			m.plan.C = true
		}
		if !x.Standard && !within(x.Dir, m.env.GOMODCACHE) {
			m.depends(x)
		}
		if x.ImportPath == "plugin" && x.Standard {
			m.plan.Notes = append(m.plan.Notes, "the program may load plugins; those that go build has made are of a standard library without hooks, and can't be loaded into it")
		}
		if recorders(x) || !traced(x) || len(x.GoFiles)+len(x.CgoFiles)+len(x.TestGoFiles)+len(x.XTestGoFiles) == 0 {
			continue
		}
		matched++
		if m.looked(x) {
			// Accesses by scopes would be reported, too: scopes would take ten times as long,
			// and distort the result.
			looked = append(looked, x)
			m.leave("--memory has their loads and stores looked at", x.ImportPath)
			continue
		}
		if x.Standard {
			m.leave("the standard library has hooks, but no scopes", x.ImportPath)
			continue
		}
		if err := m.editPackage(x); err != nil {
			return err
		}
	}
	if matched == 0 && len(m.o.Trace) > 0 {
		return fmt.Errorf("--trace %s: no package of this build matches; go list -deps lists them", strings.Join(m.o.Trace, " "))
	}
	if m.o.Memory {
		return m.memory(looked)
	}
	return nil
}

// cached copies the modules of named packages in the module cache, where no file can be
// added; go run finds them there by import path. Named packages are to be recorded: packages
// of these modules count as the main module's.
func (m *maker) cached(packages []*listed) error {
	named := map[string]bool{}
	for _, x := range packages {
		if x.DepOnly || x.Module == nil || !within(x.Dir, m.env.GOMODCACHE) {
			continue
		}
		named[x.Module.Path] = true
		if _, err := m.copied(x); err != nil {
			return err
		}
	}
	for _, x := range packages {
		x.Named = x.Module != nil && named[x.Module.Path]
	}
	return nil
}

// depends adds the inputs of the package, and the directories where a package may be added
// beside it.
func (m *maker) depends(x *listed) {
	p := m.plan
	p.from(x.Dir)
	if len(x.CFiles)+len(x.CXXFiles)+len(x.MFiles)+len(x.FFiles)+len(x.SwigFiles)+len(x.SwigCXXFiles) > 0 {
		p.C = true
	}
	// A file excluded from this build is included once its constraint changes.
	for _, name := range slices.Concat(x.GoFiles, x.CgoFiles, x.TestGoFiles, x.XTestGoFiles, x.IgnoredGoFiles, x.IgnoredOtherFiles, x.SFiles, x.HFiles, x.SysoFiles, x.EmbedFiles) {
		path := filepath.Join(x.Dir, name)
		// Embedded files may be in subdirectories, and new ones may appear in any directory on
		// the way.
		for dir := filepath.Dir(path); dir != x.Dir && within(dir, x.Dir); dir = filepath.Dir(dir) {
			p.from(dir)
		}
		if to := m.overlay[path]; to != "" {
			path = to
		}
		p.from(path)
	}
	if x.Module == nil {
		return
	}
	if mod := cmp.Or(x.Module.Replace, x.Module).GoMod; mod != "" {
		p.from(mod) // it has the Go version of the package
	}
	for dir := filepath.Dir(x.Dir); within(dir, x.Module.Dir); dir = filepath.Dir(dir) {
		if _, ok := p.Inputs[dir]; ok {
			break
		}
		p.from(dir)
	}
}

func (m *maker) leave(why string, name string) {
	const most = 20
	l := m.left[why]
	if l == nil {
		l = &Left{Why: why}
		m.left[why] = l
	}
	if l.Count++; len(l.Names) < most {
		l.Names = append(l.Names, name)
	}
}

func (m *maker) editPackage(x *listed) error {
	dir, err := m.editable(x)
	if err != nil {
		return err
	}
	e := editing{
		Dir: dir, There: dir == x.Dir, ImportPath: x.ImportPath, Name: x.Name, Args: m.o.Args, Out: m.o.out,
		LineDirs: !strings.HasPrefix(m.env.GOVERSION, "go1.26"),
		Files:    map[string]string{}, With: map[string]string{},
	}
	for _, name := range slices.Concat(x.GoFiles, x.CgoFiles) { // CgoFiles are included for the reason why they are not recorded
		e.Files[name] = m.overlay.at(filepath.Join(x.Dir, name))
	}
	for _, name := range x.TestGoFiles {
		e.With[name] = m.overlay.at(filepath.Join(x.Dir, name))
	}
	out, err := m.edited(&e)
	if err != nil {
		return err
	}
	if out.Broken {
		m.leave("their package does not compile", x.ImportPath)
		return nil // the compiler will report the error, for the user's own lines
	}
	if m.line.Covering() {
		m.plan.Covered = append(m.plan.Covered, e)
	}
	for _, l := range out.Left {
		m.leave(l.Why, l.Name)
	}
	m.plan.Functions += out.Functions
	for name, to := range out.files {
		if name == out.Table {
			if err := m.place(x, dir, name); err != nil {
				return err
			}
		}
		m.overlay[filepath.Join(dir, name)] = to
	}
	return nil
}

// replace makes the go command read b in place of a file.
func (m *maker) replace(path string, b []byte) error {
	to, err := m.o.Cache.keep(path, b)
	if err != nil {
		return err
	}
	m.overlay[path] = to
	return m.plan.keeps(to)
}

// add adds a file to a package.
func (m *maker) add(x *listed, dir, name string, b []byte) error {
	if err := m.place(x, dir, name); err != nil {
		return err
	}
	return m.replace(filepath.Join(dir, name), b)
}

// place prepares the addition of a file to a package.
func (m *maker) place(x *listed, dir, name string) error {
	name = filepath.Join(dir, name)
	if stat(name) != (at{}) {
		return fmt.Errorf("%s exists already: the build adds a file of this name", name)
	}
	if x.ImportPath == "command-line-arguments" {
		// The go command requires named files to be written alike, and the table's must be
		// first.
		first := m.line.Packages[0]
		m.plan.Packages = append([]string{strings.TrimSuffix(first, filepath.Base(first)) + filepath.Base(name)}, m.plan.Packages...)
	}
	return nil
}

// editable returns the directory where files of a package can be replaced and added.
func (m *maker) editable(x *listed) (string, error) {
	if within(x.Dir, m.env.GOMODCACHE) {
		return m.copied(x)
	}
	return x.Dir, nil
}

// copied returns the package's directory in a copy of its module, which go.mod will refer
// to.
func (m *maker) copied(x *listed) (string, error) {
	mod := x.Module
	if mod.Replace != nil {
		mod = mod.Replace
	}
	to := m.o.Cache.path("modules", filepath.FromSlash(mod.Path)+"@"+mod.Version)
	err := m.o.Cache.whole(to, func(tmp string) error {
		if err := linkTree(x.Module.Dir, tmp); err != nil {
			return err
		}
		if _, err := os.Stat(filepath.Join(tmp, "go.mod")); missing(err) {
			return copyFile(x.Module.GoMod, filepath.Join(tmp, "go.mod"))
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("the module %s can't be copied for tracing: %w", x.Module.Path, err)
	}
	m.copies[x.Module.Path] = to
	rel, err := filepath.Rel(x.Module.Dir, x.Dir)
	return filepath.Join(to, rel), err
}

// modules adds the recorder to go.mod, and returns the recorder's directory.
func (m *maker) modules(ctx context.Context) (string, error) {
	p := m.plan
	dir, err := m.o.Cache.recorder(goCommand(ctx, m.o.Dir))
	if err == nil {
		err = p.keeps(dir)
	}
	if err != nil {
		return "", err
	}
	files := []string{m.env.GOMOD}
	switch {
	case m.env.GOWORK != "" && m.env.GOWORK != "off":
		if files, err = workModules(m.env.GOWORK); err != nil {
			return "", err
		}
		p.from(m.env.GOWORK)
	case m.line.Value("modfile") != "":
		files[0] = m.line.Value("modfile")
		if !filepath.IsAbs(files[0]) {
			files[0] = filepath.Join(m.o.Dir, files[0])
		}
	case m.env.GOMOD == "" || m.env.GOMOD == os.DevNull:
		files[0] = filepath.Join(m.o.Dir, "go.mod")
	}
	// In a workspace one module is enough, unless the recorder is one of them.
	for i, path := range files {
		p.from(path, strings.TrimSuffix(path, ".mod")+".sum")
		b, err := m.overlay.read(path)
		if err == nil && i > 0 && !strings.Contains(string(b), Module) {
			continue
		}
		if b, err = modFile(path, m.overlay.read, dir, m.copies); err != nil {
			return "", err
		}
		if b == nil {
			return m.within(filepath.Dir(path))
		}
		if err := m.replace(path, b); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// within returns the recorder's directory if the main module is the recorder.
func (m *maker) within(dir string) (string, error) {
	if _, err := os.Stat(filepath.Join(dir, "scope", "hooks")); err != nil {
		return "", fmt.Errorf("%s is another version of the recorder than this tool's: %w", dir, err)
	}
	return dir, nil
}

// standard adds the hooks to the standard library, and the functions that they call to the
// recorder.
func (m *maker) standard(recorder string) error {
	groups := m.o.Advise
	if m.o.Memory {
		groups = append(slices.Clip(groups), std.Memory)
	}
	files, err := m.o.Cache.stored(hash([]byte(m.o.Tool), []byte(m.env.GOROOT), []byte(m.env.GOVERSION), []byte(recorder), []byte(strings.Join(groups, " "))), &m.plan.Stubs, func() (map[string]string, map[string]at, error) {
		files, linked, stubs, err := std.Patches(m.env.GOROOT, m.env.GOVERSION, groups, nil)
		if err != nil {
			return nil, nil, err
		}
		m.plan.Stubs = stubs
		texts := map[string][]byte{
			filepath.Join(recorder, "scope", "hooks", "zz_scopeview_linked.go"): linked,
			// A package that reads the environment itself would start a recording without the
			// hooks' budget, and conflict with them.
			filepath.Join(recorder, "scope", "auto", "auto.go"): []byte("package auto\n\nimport _ " + strconv.Quote(Hooks) + "\n"),
		}
		was := map[string]at{}
		for name, b := range files {
			path := filepath.Join(m.env.GOROOT, filepath.FromSlash(name))
			texts[path], was[path] = b, stat(path)
		}
		kept, err := m.o.Cache.kept(texts)
		return kept, was, err
	})
	if err != nil {
		return err
	}
	for _, s := range m.plan.Stubs {
		if s.Name == std.Unwind && !s.OK {
			m.plan.Notes = append(m.plan.Notes, "no states of goroutines are recorded, for Go's tracer could crash the program: its check of frame pointers is not in ("+s.Why+"); with GODEBUG=tracefpunwindoff=1 in the program's environment they are")
		}
	}
	for path, to := range files {
		if theirs, ok := m.overlay[path]; ok {
			return fmt.Errorf("%s needs hooks, but the given overlay replaces it with %s", path, theirs)
		}
		m.overlay[path] = to
	}
	return nil
}

// entries adds the recorder to the program: to package main, or to the tests.
func (m *maker) entries(packages []*listed) error {
	for _, x := range packages {
		if x.DepOnly {
			continue
		}
		dir, err := m.editable(x)
		if err != nil {
			return err
		}
		switch {
		case m.verb == Test && len(x.TestGoFiles) > 0:
			if err := m.add(x, dir, testFile, m.entry(x.Name)); err != nil {
				return err
			}
		case m.verb == Test && len(x.XTestGoFiles) > 0:
			if err := m.add(x, dir, testFile, m.entry(strings.TrimSuffix(x.Name, "_test")+"_test")); err != nil {
				return err
			}
		case m.verb != Test && x.Name == "main":
			if err := m.add(x, dir, mainFile, m.entry("main")); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry returns a file that makes the program record, and lists the functions left out.
func (m *maker) entry(name string) []byte {
	var b strings.Builder
	for _, l := range m.plan.Left {
		fmt.Fprintf(&b, "%d\t%s", l.Count, l.Why)
		if l.Count == len(l.Names) {
			b.WriteString("\t" + strings.Join(l.Names, " "))
		}
		b.WriteByte('\n')
	}
	text := b.String()
	b.Reset()
	fmt.Fprintf(&b, "// Code generated by scopeview. DO NOT EDIT.\n\npackage %s\n\nimport _scopeview %q\n\nfunc init() { _scopeview.LeftOut(%q) }\n", name, Hooks, text)
	return []byte(b.String())
}

// Executable returns the path of Run's executable, which is the same each time, so that it
// need not be linked again.
func (p *Plan) Executable(c Cache) string {
	return c.path("bin", hash([]byte(p.Overlay), []byte(strings.Join(p.Flags, "\x00")), []byte(strings.Join(p.Packages, "\x00")), []byte(p.Dir)), path.Base(p.Root))
}
