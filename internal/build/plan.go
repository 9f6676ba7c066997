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

// Options are the parameters of a build.
type Options struct {
	Cache  Cache
	Tool   string // version of the tool: each has its own plans
	Self   string // path of the tool, for calls in builds with coverage
	Dir    string // directory for the go command; "": the working directory
	Trace  []string
	Args   bool     // record arguments
	Budget float64  // maximum share of the CPU time for recording
	Advise []string // groups of diagnostics to count for
	Memory bool     // report loads and stores of traced packages, too

	out map[string]string // functions to leave out by the names of their scopes, and the reasons
}

// Plan is the result for a command line.
type Plan struct {
	Dir      string   // directory for the go command
	Go       string   // the go command
	Env      []string // additional environment variables
	Flags    []string // of the go command
	Packages []string
	Rest     []string  // arguments of the program, or the test
	Root     string    // package that Run runs
	Exec     []string  // command that runs it: -exec
	Shown    bool      // only show the commands: -n
	Overlay  string    // path of the overlay's file
	Covered  []editing // traced packages in builds with coverage
	Toolexec []string  // the user's -toolexec, then
	Version  string    // Go version
	Hot      string    // path of the list of functions called too often, from earlier runs
	Profile  string    // default.pgo of the program, or -pgo; "": none

	Functions int          // number of recorded functions
	Left      []Left       // functions not recorded
	Stubs     []std.Status // hooks of the standard library
	Notes     []string     // notes for the user
	Began     time.Time
	Inputs    map[string]at     // files and directories that it depends on
	Names     map[string]string // hashes of the file names in those directories
	C         bool              // a C compiler compiles part of it, outside the standard library
	Main      string            // directory of the package that is built, if that is one program
	Name      string            // default name of go build's output
	Output    string            // name of the output, if given
	Unstamped bool              // version control does not affect it
	Self      string            // path of this tool
	Kept      map[string]at     // files of the cache that it refers to

	file string // path of the plan
	verb Verb

	stamp   string // state of version control at the call of Built
	stamped bool   // stamp is known
}

// Left is a reason why functions are not recorded: their number, and their names if they are
// few.
type Left struct {
	Why   string
	Count int
	Names []string
}

// at is the state of an input file; the zero at is a missing file.
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

// Make returns the plan of a command line: the stored one, if nothing has changed.
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

// refuse returns an error for command lines that are not supported.
func refuse(verb Verb, l *Line) error {
	switch mode := l.Value("buildmode"); mode {
	case "", "default", "exe", "pie":
	default:
		return fmt.Errorf("-buildmode=%s can't record: only programs and tests have a start and an end", mode)
	}
	if l.Value("compiler") == "gccgo" {
		return errors.New("-compiler=gccgo can't record: the hooks are for Go's own compiler and library")
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

// known returns an error if the recorder can't be compiled.
func known(e *environment) error {
	v := strings.TrimPrefix(e.GOVERSION, "go")
	var major, minor int
	if n, _ := fmt.Sscanf(v, "%d.%d", &major, &minor); n == 2 && (major > 1 || minor >= 26) {
		return nil
	}
	return fmt.Errorf("the recorder needs %[2]s or newer, and the go command is %[1]s; GOTOOLCHAIN=%[3]s.0 chooses another", e.GOVERSION, language, language)
}

// planKey returns a hash of everything but files that a plan depends on. The go command's
// environment depends on variables, and on files that are among the plan's inputs.
func planKey(o Options, verb Verb, args []string) string {
	b, err := json.Marshal([]any{o.Tool, o.Dir, o.Trace, o.Args, o.Budget, o.Advise, o.Memory, o.out, verb, args})
	if err != nil {
		panic(err) // impossible: it has only strings
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

// plan returns the stored plan of a key, if its inputs are unchanged.
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
		// A file that changed while the plan was made may have been read before.
		if was.Time >= p.Began.UnixNano() {
			return nil
		}
		// The executable may be written into one of the directories.
		if now := stat(path); now != was && (now.Size != -1 || was.Size != -1 || p.names(path) != p.Names[path]) {
			return nil
		}
	}
	for path, was := range p.Kept {
		if stat(path) != was {
			return nil // a part of the cache has been removed
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

// from adds inputs of the plan: files, or the file names of directories.
func (p *Plan) from(paths ...string) {
	for _, path := range paths {
		if p.Inputs[path] = stat(path); p.Inputs[path].Size == -1 {
			p.Names[path] = p.names(path)
		}
	}
}

// names returns a hash of a directory's file names, without that of the executable.
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

// keeps adds a file of the cache, or a directory with everything in it, to those that the
// plan refers to.
func (p *Plan) keeps(path string) error {
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.IsDir() || d.Type().IsRegular()) {
			p.Kept[path] = stat(path)
		}
		return err
	})
}

// Command returns the go command that executes the plan.
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
	// If it were killed, it would leave its directories behind, and its child running.
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd
}

// missing reports whether an error means that a file does not exist.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// unquoted splits the value of a flag into words as the go command does: a word that begins
// with a quote ends at the next one.
func unquoted(s string) ([]string, error) {
	var words []string
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		if s[0] == '\'' || s[0] == '"' {
			word, rest, ok := strings.Cut(s[1:], s[:1])
			if !ok {
				return nil, fmt.Errorf("%s: the quote is not closed", s)
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

// quoted joins words into a flag's value, as the go command splits it.
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
