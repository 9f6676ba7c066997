package row

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Row is a line of a raw file.
type Row struct {
	Kind  Kind
	Type  string   // of elements; or what a use is of
	Stack []string // frames, innermost first: "function file:line"
	Stats
}

// version is that of raw files.
const version = 1

// magic begins what a run has left in a raw file.
const magic = "scopeview-advice"

// Head is what is said of a run.
type Head struct {
	Program string // its main package, or "tests of" its module
	Go      string // its version
	Build   string // what tells two builds apart
	Run     string // what SCOPEVIEW_ADVISE_RUN says: those of one run of the tool have the same
	CPUs    int
	NS      int64             // how long it was counted
	CPU     int64             // the CPU time that it took meanwhile, in ns; 0: not known
	Looked  int64             // and of it, how long operations were looked at
	Noted   int64             // loads and stores that were looked at,
	Memory  int64             // of about so many
	Params  map[string]string // the parameters in use
	Lost    map[string]int64  // what is not counted, by why
	Missing map[string]string // hooks that the program is without, and why
}

// AppendHead appends a run's first line.
func AppendHead(b []byte, h *Head) []byte {
	b = append(b, magic...)
	b = append(b, '\t')
	b = strconv.AppendInt(b, version, 10)
	for _, f := range [...][2]string{
		{"program", h.Program}, {"go", h.Go}, {"build", h.Build}, {"run", h.Run}, {"cpus", strconv.Itoa(h.CPUs)},
		{"ns", strconv.FormatInt(h.NS, 10)}, {"cpu_ns", strconv.FormatInt(h.CPU, 10)}, {"looked_ns", strconv.FormatInt(h.Looked, 10)},
	} {
		b = append(append(append(append(b, '\t'), f[0]...), '='), clean(f[1])...)
	}
	if h.Memory > 0 {
		b = strconv.AppendInt(append(b, "\tnoted="...), h.Noted, 10)
		b = strconv.AppendInt(append(b, "\tmemory="...), h.Memory, 10)
	}
	for _, k := range sortedKeys(h.Params) {
		b = append(append(append(append(b, "\tparam."...), k...), '='), clean(h.Params[k])...)
	}
	for _, k := range sortedKeys(h.Missing) {
		b = append(append(append(append(b, "\tmissing."...), k...), '='), clean(h.Missing[k])...)
	}
	for _, k := range sortedKeys(h.Lost) {
		b = append(append(append(append(b, "\tlost."...), k...), '='), strconv.FormatInt(h.Lost[k], 10)...)
	}
	return append(b, '\n')
}

// AppendFrame appends the line of a frame that rows behind it name by a number.
func AppendFrame(b []byte, number int, frame string) []byte {
	b = strconv.AppendInt(append(b, "frame\t"...), int64(number), 10)
	return append(append(append(b, '\t'), clean(frame)...), '\n')
}

// AppendRow appends a row's line: its kind, type and values, and its call stack as numbers of frames,
// innermost first. The row's own Stack is not used.
func AppendRow(b []byte, r *Row, stack []int) []byte {
	b = append(append(append(append(b, r.Kind.String()...), '\t'), clean(r.Type)...), '\t')
	sep := ""
	for i, v := range r.V {
		if v != 0 {
			b = append(append(append(append(b, sep...), valueNames[i]...), '='), strconv.FormatInt(v, 10)...)
			sep = " "
		}
	}
	for h := range r.H {
		first := true
		for bucket, n := range r.H[h] {
			if n == 0 {
				continue
			}
			if first {
				b = append(append(append(b, sep...), histNames[h]...), '=')
				sep, first = " ", false
			} else {
				b = append(b, ',')
			}
			b = append(strconv.AppendInt(b, int64(bucket), 10), ':')
			b = strconv.AppendInt(b, n, 10)
		}
	}
	b = append(b, '\t')
	for i, f := range stack {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(f), 10)
	}
	return append(b, '\n')
}

// AppendEnd appends the last line of a run, which tells that it is whole.
func AppendEnd(b []byte, rows int) []byte {
	return append(strconv.AppendInt(append(b, "end\t"...), int64(rows), 10), '\n')
}

// clean has no tab and no end of line.
func clean(s string) string {
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

// Run is what one run has left in a raw file.
type Run struct {
	Head
	Rows  []Row
	Whole bool // its last line is there
}

// ErrVersion is of a raw file that another version of scopeview has written.
var ErrVersion = errors.New("another version's raw file")

// Read reads a raw file, which may be several, one behind the other. What can be used is returned also
// where damage says what can't.
func Read(r io.Reader) (runs []Run, damage []string, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 1<<20)
	var run *Run
	frames := map[string]string{}
	bad, fields, line := 0, 0, 0
	for s.Scan() {
		line++
		words := strings.Split(s.Text(), "\t")
		switch {
		case words[0] == magic:
			if len(words) < 2 || words[1] != strconv.Itoa(version) {
				return runs, damage, fmt.Errorf("line %d: %w: it has version %q, and this tool reads %d; issue the advice with the tool that built the program", line, ErrVersion, strings.Join(words[1:min(2, len(words))], ""), version)
			}
			h, unread := head(words[2:])
			runs = append(runs, Run{Head: h})
			run = &runs[len(runs)-1]
			fields += unread
			clear(frames)
		case run == nil:
			return nil, nil, fmt.Errorf("line %d is not the beginning of a raw file of advice, which is %q", line, magic)
		case words[0] == "frame" && len(words) == 3:
			frames[words[1]] = words[2]
		case words[0] == "end":
			n, err := strconv.Atoi(strings.Join(words[1:], ""))
			run.Whole = err == nil && n == len(run.Rows)
		default:
			if row, unread, ok := parse(words, frames); ok {
				run.Rows = append(run.Rows, row)
				fields += unread
			} else {
				bad++
			}
		}
	}
	if err := s.Err(); err != nil {
		return runs, damage, fmt.Errorf("behind line %d: %w", line, err)
	}
	if bad > 0 {
		damage = append(damage, fmt.Sprintf("%d lines can't be read, and are left out", bad))
	}
	if fields > 0 {
		damage = append(damage, fmt.Sprintf("%d numbers can't be read, or have names that are none, and are left out", fields))
	}
	for i := range runs {
		if !runs[i].Whole {
			damage = append(damage, fmt.Sprintf("the raw file is cut short in what run %d left: rows are missing", i+1))
		}
	}
	return runs, damage, nil
}

// head reads what is said of a run, and counts what can't be read of it.
func head(fields []string) (h Head, unread int) {
	h = Head{Params: map[string]string{}, Lost: map[string]int64{}, Missing: map[string]string{}}
	for _, f := range fields {
		k, v, _ := strings.Cut(f, "=")
		n, err := strconv.ParseInt(v, 10, 64)
		text := k == "program" || k == "go" || k == "build" || k == "run" || strings.HasPrefix(k, "param.") || strings.HasPrefix(k, "missing.")
		if err != nil && !text {
			unread++
			continue
		}
		switch {
		case k == "program":
			h.Program = v
		case k == "go":
			h.Go = v
		case k == "build":
			h.Build = v
		case k == "run":
			h.Run = v
		case k == "cpus":
			h.CPUs = int(n)
		case k == "ns":
			h.NS = n
		case k == "noted":
			h.Noted = n
		case k == "memory":
			h.Memory = n
		case k == "cpu_ns":
			h.CPU = n
		case k == "looked_ns":
			h.Looked = n
		case strings.HasPrefix(k, "param."):
			h.Params[k[len("param."):]] = v
		case strings.HasPrefix(k, "missing."):
			h.Missing[k[len("missing."):]] = v
		case strings.HasPrefix(k, "lost."):
			h.Lost[k[len("lost."):]] = Sum(h.Lost[k[len("lost."):]], n)
		default:
			unread++
		}
	}
	return h, unread
}

// parse reads a row, and counts its values that have no name that is known.
func parse(fields []string, frames map[string]string) (r Row, unread int, ok bool) {
	if len(fields) != 4 {
		return r, 0, false
	}
	if r.Kind = named(fields[0]); r.Kind == 0 {
		return r, 0, false
	}
	r.Type = fields[1]
	for _, n := range strings.Fields(fields[3]) {
		f, ok := frames[n]
		if !ok {
			return r, 0, false
		}
		r.Stack = append(r.Stack, f)
	}
	for _, f := range strings.Fields(fields[2]) {
		k, v, _ := strings.Cut(f, "=")
		if h := index(histNames[:], k); h >= 0 {
			if !r.hist(h, v) {
				return r, 0, false
			}
			continue
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return r, 0, false
		}
		if i := index(valueNames[:], k); i >= 0 {
			r.V[i] = n
		} else {
			unread++
		}
	}
	return r, unread, true
}

func (r *Row) hist(h int, text string) bool {
	for _, pair := range strings.Split(text, ",") {
		a, b, _ := strings.Cut(pair, ":")
		bucket, err := strconv.Atoi(a)
		n, err2 := strconv.ParseInt(b, 10, 64)
		if err != nil || err2 != nil || bucket < 0 || bucket >= Buckets || n < 0 {
			return false
		}
		r.H[h][bucket] = Sum(r.H[h][bucket], n)
	}
	return true
}

func index(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	for i := range keys { // few: the recorder stays light
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}
