package explain

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/symbols"
)

// wanted are the names that are kept of what the compiler says, without type arguments.
type wanted struct {
	callers map[string]bool // as the linker names them
	funcs   map[string]bool // names in their packages
}

func newWanted(hot []pgo.Edge) *wanted {
	w := &wanted{map[string]bool{}, map[string]bool{}}
	for _, e := range hot {
		w.callers[collapse(e.Caller)] = true
		for _, f := range []string{e.Caller, e.Callee} {
			_, local := split(f)
			w.funcs[collapse(local)] = true
		}
	}
	return w
}

// function reports whether a function of that name is wanted, which -m wrote.
func (w *wanted) function(name string) bool { return w.funcs[name] || w.funcs[unqualified(name)] }

// place is where a call or a function is.
type place struct {
	file         string
	line, column int
}

// callStat is what the compiler writes as JSON about a call (constructCallStat in
// cmd/compile/internal/devirtualize).
type callStat struct {
	Pos                 string
	Caller              string
	Direct              bool
	Weight              int64
	Hottest             string
	HottestWeight       int64
	Devirtualized       string
	DevirtualizedWeight int64
}

// call is a call in the source of a wanted caller.
type call struct {
	callStat
	place
	callee   string            // what it calls, as the compiler writes it
	deferred bool              // a go or defer statement
	refused  string            // why it is not devirtualized to the hottest
	unfit    map[string]string // by callee: why it is none of this call's
}

// function is what the compiler says of a wanted function.
type function struct {
	place
	cost int    // what it takes to inline it
	why  string // why it can't be inlined; "": it can
	big  bool   // as a caller
}

// unit is what the compiler says when it compiles one package.
type unit struct {
	calls     map[string][]*call   // by the caller, as the linker names it
	functions map[string]*function // by the name that -m writes
	inlined   map[place][]string   // the functions that were inlined there, by the name that -m writes
	cycles    map[place]bool       // calls that are recursive
	static    map[place]bool       // calls that were devirtualized without the profile
}

// said is what the compiler says.
type said struct {
	dir       string
	wanted    *wanted
	threshold float64 // in percent
	units     map[string]*unit
	files     map[string]string // paths by the name that is printed
	unit      *unit
	next      *call // that the compiler is considering
}

func newSaid(dir string, w *wanted) *said {
	return &said{dir: dir, wanted: w, files: map[string]string{}, units: map[string]*unit{}}
}

// longest is how much is read of a line. What is wanted stands at the beginning, and some
// lines have the names of all packages.
const longest = 64 << 10

// read reads what the go command prints while it compiles.
func (s *said) read(r io.Reader) error {
	in := bufio.NewReaderSize(r, longest)
	for {
		line, more, err := in.ReadLine()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		s.line(string(line))
		for more && err == nil {
			_, more, err = in.ReadLine()
		}
	}
}

func (s *said) line(line string) {
	if path, ok := strings.CutPrefix(line, "# "); ok {
		path, _, _ = strings.Cut(path, " ")
		if s.unit = s.units[path]; s.unit == nil {
			s.unit = &unit{map[string][]*call{}, map[string]*function{}, map[place][]string{}, map[place]bool{}, map[place]bool{}}
			s.units[path] = s.unit
		}
		s.next = nil
		return
	}
	if s.unit == nil {
		return
	}
	if strings.HasPrefix(line, "{") {
		s.stat(line)
	} else if v, ok := strings.CutPrefix(line, "hot-callsite-thres-from-CDF="); ok {
		s.threshold, _ = strconv.ParseFloat(v, 64)
	} else if v, ok := strings.CutSuffix(line, ", skipping"); ok && s.next != nil {
		// callee F is a closure, skipping
		if _, what, ok := strings.Cut(v, " is a "); ok && s.next.refused == "" {
			s.next.refused = "the callee is a " + what
		}
	} else if file, r, ok := symbols.ParseRemark(line); ok {
		s.remark(place{s.path(file), r.Line, r.Column}, &r)
	}
}

// path returns the path of a file that the go command names: relative to where it runs, or
// whole.
func (s *said) path(file string) string {
	path, ok := s.files[file]
	if !ok {
		file = strings.Clone(file) // lines are long
		path = file
		if !filepath.IsAbs(file) && !strings.HasPrefix(file, "<") {
			path = filepath.Join(s.dir, file)
		}
		s.files[file] = path
	}
	return path
}

func (s *said) remark(at place, r *symbols.Remark) {
	name := collapse(r.Func)
	if name != r.Func && !strings.Contains(r.Func, "go.shape") && r.Kind != symbols.Inlined {
		return // it only calls the function that has the code
	}
	switch r.Kind {
	case symbols.Inlined:
		if s.wanted.function(name) {
			s.unit.inlined[at] = append(s.unit.inlined[at], strings.Clone(name))
		}
	case symbols.CanInline:
		if f := s.function(name, at); f != nil {
			f.cost = r.Cost
		}
	case symbols.CannotInline:
		if r.Why == "repeated recursive cycle" {
			s.unit.cycles[at] = true
		} else if f := s.function(name, at); f != nil {
			f.why = strings.Clone(r.Why)
		}
	case "":
		s.words(at, r.Text)
	}
}

// function returns what is known of a wanted function; nil of others.
func (s *said) function(name string, at place) *function {
	if !s.wanted.function(name) {
		return nil
	}
	f := s.unit.functions[name]
	if f == nil {
		f = &function{place: at}
		s.unit.functions[strings.Clone(name)] = f
	}
	return f
}

// words reads what is no remark on inlining.
func (s *said) words(at place, text string) {
	if expr, ok := strings.CutPrefix(text, "PGO devirtualize considering call "); ok {
		s.next = &call{place: at, callee: strings.Clone(callee(expr))}
		return
	}
	if name, ok := strings.CutPrefix(text, "function "); ok {
		if name, _, ok = strings.Cut(name, " considered 'big'"); ok {
			if f := s.function(collapse(name), at); f != nil {
				f.big = true
			}
		}
		return
	}
	if strings.HasPrefix(text, "devirtualizing ") {
		s.unit.static[at] = true
		return
	}
	if s.next == nil {
		return
	}
	if strings.HasPrefix(text, "can't PGO devirtualize go/defer call ") {
		s.next.deferred = true
	} else if text, ok := strings.CutPrefix(text, "should not PGO devirtualize "); ok {
		_, s.next.refused, _ = strings.Cut(text, ": ")
	} else if text, ok := strings.CutPrefix(text, "edge "); ok {
		s.edge(text)
	}
}

// edge reads why the compiler takes a hot callee for one of the call or not:
// main.f:3 -> main.g (weight 4): callee not a method.
func (s *said) edge(text string) {
	_, text, ok := strings.Cut(text, " -> ")
	name, why, ok2 := strings.Cut(text, " (weight ")
	_, why, ok3 := strings.Cut(why, ")")
	if !ok || !ok2 || !ok3 {
		return
	}
	if why == " (missing IR): hottest so far" {
		s.next.refused = "the package doesn't know the callee"
		return
	}
	why = strings.TrimPrefix(why, ": ")
	if why == "hottest so far" {
		s.next.refused = ""
	} else if !strings.HasPrefix(why, "too cold") {
		if s.next.unfit == nil {
			s.next.unfit = map[string]string{}
		}
		s.next.unfit[name] = why
	}
}

// stat reads what the compiler sums up of a call, which comes after the lines on it.
func (s *said) stat(line string) {
	c := s.next
	s.next = nil
	if c == nil || json.Unmarshal([]byte(line), &c.callStat) != nil {
		return
	}
	if name, _ := wrapped(c.Caller); !s.wanted.callers[collapse(name)] {
		return
	}
	s.unit.calls[c.Caller] = append(s.unit.calls[c.Caller], c)
	if short := collapse(c.Caller); short != c.Caller && strings.Contains(c.Caller, "go.shape") {
		s.unit.calls[short] = append(s.unit.calls[short], c)
	}
}
