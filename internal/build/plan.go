package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/build/std"
)

// Options are what a build is to be.
type Options struct {
	Cache  Cache
	Tool   string // its version: another one has other plans
	Self   string // its path, to be called where something is covered
	Dir    string // where the go command would be called; "": here
	Trace  []string
	Args   bool     // record arguments
	Budget float64  // the share of the CPU time that recording may take
	Advise []string // groups of diagnostics that the program is to count for
	Memory bool     // loads and stores of what is traced are looked at, too

	out map[string]string // functions to leave out by the names of their scopes, and why
}

// Plan is what a command line comes to.
type Plan struct {
	Dir      string   // where the go command is called
	Go       string   // the go command
	Env      []string // more of the environment
	Flags    []string // of the go command
	Packages []string
	Rest     []string  // what the program, or the test, is given
	Root     string    // the package that is run, of Run alone
	Exec     []string  // what is to run it: -exec
	Shown    bool      // the commands are to be shown, and nothing is to be done: -n
	Overlay  string    // its file
	Covered  []editing // where something is covered: packages that are traced
	Toolexec []string  // the user's, then
	Version  string    // of Go
	Hot      string    // the file of what runs showed to be called too often
	Profile  string    // the default.pgo of what is run, or -pgo: "" for none

	Functions int          // that are recorded
	Left      []Left       // those that are not
	Stubs     []std.Status // the hooks of the standard library
	Notes     []string     // what the user should know
	Began     time.Time
	Inputs    map[string]at     // what it was made from
	Names     map[string]string // which files the directories among it have
	C         bool              // something in it, but for the standard library, is compiled by a C compiler
	Main      string            // the directory of the package that is built, if that is one program
	Name      string            // of the file that go build makes of it, where it is given no name
	Output    string            // and the name that it is given
	Unstamped bool              // nothing of the version control goes into it
	Self      string            // this tool
	Kept      map[string]at     // what of the cache it names

	file string // where it lies
	verb Verb

	stamp   string // of the version control, when Built was asked
	stamped bool   // it is known
}

// Left is why functions are not recorded: so many, and which, as long as they are few.
type Left struct {
	Why   string
	Count int
	Names []string
}

// at is how a file was when a plan was made from it; the zero at is one that was not there.
type at struct {
	Size int64
	Time int64 // ns
}

func stat(path string) at {
	st, err := os.Stat(path)
	if err != nil {
		return at{}
	}
	if st.IsDir() {
		return at{-1, st.ModTime().UnixNano()}
	}
	return at{st.Size(), st.ModTime().UnixNano()}
}

// Make returns the plan of a command line: that of the last time, if nothing has changed.
func Make(ctx context.Context, o Options, verb Verb, args []string) (*Plan, error) {
	l, err := Parse(verb, args)
	if err != nil {
		return nil, err
	}
	if c := l.Value("C"); c != "" {
		o.Dir = filepath.Join(o.Dir, c)
		if filepath.IsAbs(c) {
			o.Dir = c
		}
		l.Flags, l.listed = without(l.Flags, "C"), without(l.listed, "C")
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	hot := o.hotFile(verb, l.Packages)
	o.out = readHot(hot)
	key := planKey(o, verb, args)
	if p := o.Cache.plan(key); p != nil {
		p.verb = verb
		return p, nil
	}
	began := time.Now()
	e, err := askGo(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	if err := known(e); err != nil {
		return nil, err
	}
	l.defaults(e.flags())
	if err := refuse(verb, l); err != nil {
		return nil, err
	}
	if o.Memory {
		if err := detecting(l, e.GOOS+"/"+e.GOARCH); err != nil {
			return nil, err
		}
	}
	m := &maker{o: o, verb: verb, line: l, env: e, plan: &Plan{Began: began, Hot: hot, Inputs: map[string]at{}, Names: map[string]string{}, Kept: map[string]at{}, verb: verb}}
	if err := m.make(ctx); err != nil {
		return nil, err
	}
	m.plan.file = o.Cache.path("plans", key+".json")
	return m.plan, m.plan.save(o.Cache)
}

// refuse says what can't be built so.
func refuse(verb Verb, l *Line) error {
	switch mode := l.Value("buildmode"); mode {
	case "", "default", "exe", "pie":
	default:
		return fmt.Errorf("-buildmode=%s is not built: only programs and tests record, for what is loaded into another program has no beginning and no end", mode)
	}
	if l.Value("compiler") == "gccgo" {
		return errors.New("-compiler=gccgo: the hooks are those of Go's own compiler and library")
	}
	for _, p := range l.Packages {
		if strings.Contains(p, "@") {
			return fmt.Errorf("%s: a package with a version can't be recorded; run go get in a module, and name the package without it, or clone its repository, and name the directory", p)
		}
	}
	if verb == Run && len(l.Packages) == 0 {
		return errors.New("go run: no package or file to run; scopeview run ./cmd/NAME")
	}
	return nil
}

// known reports whether the recorder can be compiled.
func known(e *environment) error {
	v := strings.TrimPrefix(e.GOVERSION, "go")
	var major, minor int
	if n, _ := fmt.Sscanf(v, "%d.%d", &major, &minor); n == 2 && (major > 1 || minor >= 26) {
		return nil
	}
	return fmt.Errorf("the go command here is %s, and the recorder is written for %s or newer; GOTOOLCHAIN=%s.0 chooses one", e.GOVERSION, language, language)
}

// planKey names a plan by all that it depends on but the files. What the go command says of its
// environment depends on the variables, and on files that are among the plan's inputs.
func planKey(o Options, verb Verb, args []string) string {
	b, err := json.Marshal([]any{o.Tool, o.Dir, o.Trace, o.Args, o.Budget, o.Advise, o.Memory, o.out, verb, args})
	if err != nil {
		panic(err) // strings alone
	}
	var env []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "GO") || strings.HasPrefix(v, "CGO_") || strings.HasPrefix(v, "PATH=") || strings.HasPrefix(v, "CC=") {
			env = append(env, v)
		}
	}
	slices.Sort(env)
	return hash(b, []byte(strings.Join(env, "\x00")))
}

// plan is the plan with a key, if what it was made from is as it was.
func (c Cache) plan(key string) *Plan {
	p := &Plan{file: c.path("plans", key+".json")}
	b, err := os.ReadFile(p.file)
	if err != nil {
		return nil
	}
	if json.Unmarshal(b, p) != nil || len(p.Inputs) == 0 {
		return nil
	}
	for path, was := range p.Inputs {
		// What was changed while the plan was made may have been read before.
		if was.Time >= p.Began.UnixNano() {
			return nil
		}
		// What is built may be written into one of the directories.
		if now := stat(path); now != was && (now.Size != -1 || was.Size != -1 || p.names(path) != p.Names[path]) {
			return nil
		}
	}
	for path, was := range p.Kept {
		if stat(path) != was {
			return nil // somebody has removed a part of the cache
		}
	}
	return p
}

func (p *Plan) save(c Cache) error {
	b, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return c.write(p.file, b)
}

// from notes that the plan depends on a file, or on which files a directory has.
func (p *Plan) from(paths ...string) {
	for _, path := range paths {
		if p.Inputs[path] = stat(path); p.Inputs[path].Size == -1 {
			p.Names[path] = p.names(path)
		}
	}
}

// names tells which files a directory has, but for what is built.
func (p *Plan) names(dir string) string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	target := p.Target()
	var parts [][]byte
	for _, e := range list {
		if target == "" || target != filepath.Join(dir, e.Name()) {
			parts = append(parts, []byte(e.Name()), []byte(e.Type().String()))
		}
	}
	return hash(parts...)
}

// keeps notes that the plan names what lies at a path in the cache: a file, or a directory with
// all that is in it.
func (p *Plan) keeps(path string) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			p.Kept[path] = stat(path)
		}
		return err
	})
}

// Command is the go command that does what the plan says.
func (p *Plan) Command(ctx context.Context, verb Verb, more ...string) *exec.Cmd {
	args := append(append([]string{string(verb), "-overlay=" + p.Overlay}, more...), p.Flags...)
	if p.Covered != nil {
		args = append(args, "-toolexec="+quoted(append([]string{p.Self, "toolexec", p.file, strconv.Itoa(len(p.Toolexec))}, p.Toolexec...)...))
	}
	cmd := exec.CommandContext(ctx, p.Go, slices.Concat(args, p.Packages)...)
	if verb == Test {
		cmd.Args = append(cmd.Args, p.Rest...)
	}
	cmd.Dir = p.Dir
	cmd.Env = append(append(os.Environ(), "PWD="+p.Dir), p.Env...)
	// Killed, it would leave its directories behind, and what it runs.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd
}

// missing reports whether an error is that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// unquoted splits the value of a flag into words as the go command does: what begins with a quote
// ends with the next.
func unquoted(s string) ([]string, error) {
	var words []string
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		if s[0] == '\'' || s[0] == '"' {
			word, rest, ok := strings.Cut(s[1:], s[:1])
			if !ok {
				return nil, fmt.Errorf("%s: the quote does not end", s)
			}
			words, s = append(words, word), rest
			continue
		}
		n := strings.IndexAny(s, " \t\r\n")
		if n < 0 {
			n = len(s)
		}
		words, s = append(words, s[:n]), s[n:]
	}
	return words, nil
}

// quoted joins words as the go command splits the value of a flag.
func quoted(words ...string) string {
	for i, w := range words {
		switch {
		case !strings.ContainsAny(w, " \t\n'\""):
		case !strings.Contains(w, "'"):
			words[i] = "'" + w + "'"
		default:
			words[i] = `"` + w + `"`
		}
	}
	return strings.Join(words, " ")
}
