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
	Type  string   // of elements; or of a use
	Stack []string // frames, innermost first: "function file:line"
	Stats
}

// version is the version of the raw file format.
const version = 1

// magic begins each run in a raw file.
const magic = "scopeview-advice"

// Head describes a run.
type Head struct {
	Program string // main package, or "tests of" and the module
	Go      string // Go version
	Build   string // identifies the build
	Run     string // value of SCOPEVIEW_ADVISE_RUN, the same for all processes of one run of the tool
	CPUs    int
	NS      int64             // time of counting
	CPU     int64             // CPU time meanwhile, in ns; 0: unknown
	Looked  int64             // the part of it in which operations were reported
	Noted   int64             // loads and stores recorded
	Memory  int64             // loads and stores in total, about
	Params  map[string]string // the parameters in use
	Lost    map[string]int64  // what is not counted, by reason
	Missing map[string]string // missing hooks of the program, and why
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

// AppendFrame appends the line that defines the number of a frame for later rows.
func AppendFrame(b []byte, number int, frame string) []byte {
	b = strconv.AppendInt(append(b, "frame\t"...), int64(number), 10)
	return append(append(append(b, '\t'), clean(frame)...), '\n')
}

// AppendRow appends a row's line: its kind, type and values, and its call stack as numbers
// of frames, innermost first. r.Stack is not used.
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

// AppendEnd appends the last line of a run, which marks it as complete.
func AppendEnd(b []byte, rows int) []byte {
	return append(strconv.AppendInt(append(b, "end\t"...), int64(rows), 10), '\n')
}

// clean replaces tabs and ends of lines by spaces.
func clean(s string) string {
	if !strings.ContainsAny(s, "\t\n\r") {
		return s
	}
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}

// Run is a run in a raw file.
type Run struct {
	Head
	Rows  []Row
	Whole bool // it has its last line
}

// ErrVersion reports a raw file of another version of scopeview.
var ErrVersion = errors.New("another version's raw file")

// Read reads a raw file, which may be several concatenated ones. It returns the usable part
// even if damage lists unusable parts.
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
				return runs, damage, fmt.Errorf("line %d: %w: it has version %q, and this tool reads %d; use the tool that built the program", line, ErrVersion, strings.Join(words[1:min(2, len(words))], ""), version)
			}
			h, unread := head(words[2:])
			runs = append(runs, Run{Head: h})
			run = &runs[len(runs)-1]
			fields += unread
			clear(frames)
		case run == nil:
			return nil, nil, fmt.Errorf("line %d does not begin a raw file of advice: want %q", line, magic)
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
		damage = append(damage, fmt.Sprintf("%d unreadable lines are left out", bad))
	}
	if fields > 0 {
		damage = append(damage, fmt.Sprintf("%d numbers that are unreadable, or have unknown names, are left out", fields))
	}
	for i := range runs {
		if !runs[i].Whole {
			damage = append(damage, fmt.Sprintf("the raw file is cut short in the part of run %d: rows are missing", i+1))
		}
	}
	return runs, damage, nil
}

// head parses the description of a run, and counts unknown or invalid fields.
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

// parse parses a row, and counts its unknown or invalid values.
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
	for i := range keys { // there are few; package slices would make the recorder larger
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}
