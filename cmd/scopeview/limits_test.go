package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// readings are calls of the tool that read a trace and write a result, in every form, as far as
// they end by themselves.
var readings = [][]string{
	{"verify"},
	{"verify", "--json"},
	{"dump"},
	{"info"},
	{"info", "--json"},
	{"top"},
	{"top", "--json"},
	{"top", "--by", "track", "-n", "0"},
	{"doctor"},
	{"doctor", "--json"},
	{"waits"},
	{"waits", "--json", "--stacks"},
	{"stacks", "--depth", "0"},
	{"stacks", "--json"},
	{"stacks", "--format", "folded"},
	{"stacks", "--format", "pprof"},
	{"profile"},
	{"profile", "--json"},
	{"profile --by tree", "--least", "0"},
	{"profile --by sample", "--format", "csv"},
	{"export pprof"},
	{"export csv"},
	{"html"},
	{"html", "--max", "3"},
	{"export chrome"},
	{"export perfetto"},
	{"export", "otlp", "--name", "*"},
	{"anonymize"},
	{"snapshot"},
	{"tail", "--from", "0"},
	{"compare"},
	{"compare", "--view", "waits", "--json"},
}

// dear lists the calls that may take that many times the memory, and why.
var dear = map[string]int64{
	"dump":                             32, // it assembles every chunk again
	"stacks --depth 0":                 2,  // it keeps every name of every stack, a name's count being 24 bytes of the file
	"stacks --json":                    2,  // as above
	"stacks --format folded":           2,  // as above
	"stacks --format pprof":            6,  // the profile is made as a whole, by a library
	"profile --by sample --format csv": 5,  // it keeps all that it shows, and one can be 4 bytes of the file
	"top":                              2,  // every lock has a table of its holders
	"top --json":                       2,  // as above
	"top --by track -n 0":              2,  // as above
	"profile --by tree --least 0":      5,  // it keeps a node for each call of each stack
	"compare":                          3,  // it keeps every name's numbers, of both sides
	"html":                             2,  // it keeps a row for every goroutine, and a file can have one for each 32 bytes
	"compare --view waits --json":      2,  // as above, of locks
	"export otlp --name *":             2,  // it keeps a row for every goroutine, as html does
	"html --max 3":                     3,  // it sums up every name for the page, beside all scopes
}

// reader runs the tool on files of unknown origin.
type reader struct {
	t         testing.TB
	path, out string
	calls     int
	turn      int                // of the quarters of the calls
	memory    map[string]float64 // the maximum measured memory, as a share of the allowed, by call
	longest   time.Duration
}

func newReader(t testing.TB) *reader {
	dir := t.TempDir()
	return &reader{t: t, path: filepath.Join(dir, "x.scope"), out: filepath.Join(dir, "out.scope"), memory: map[string]float64{}}
}

// read runs one call on data. It must end soon, with one of the tool's exit codes, within the
// memory limit of reading, and with an error if it shows nothing.
func (r *reader) read(args []string, data []byte) {
	t := r.t
	t.Helper()
	if args[0] == "tail" && len(data) < format.StateOffset+format.StateSize {
		return // it waits for the header
	}
	filetest.Write(t, r.path, data)
	call := append(args[:len(args):len(args)], r.path)
	if args[0] == "snapshot" {
		call = append(call, "-o", r.out)
	}
	size := int64(len(data))
	if args[0] == "compare" { // it reads two files
		call = append(call, r.path)
		size *= 2
	}
	what := strings.Join(args, " ")
	var code int
	var errs bytes.Buffer
	memory, took := tracetest.FrugalTimes(t, what, size, max(dear[what], 1), func() {
		errs.Reset()
		os.Remove(r.out)
		code = execute(context.Background(), &streams{out: io.Discard, err: &errs}, split(call))
	})
	r.calls++
	r.memory[what] = max(r.memory[what], float64(memory)/float64(tracetest.MaxMemory(size)))
	r.longest = max(r.longest, took)
	switch said := errs.String(); {
	case code != exitOK && code != exitFailed && code != exitLosses:
		t.Errorf("%s: exit %d, %q", what, code, said)
	case code == exitFailed && said == "" && args[0] != "verify":
		t.Errorf("%s: it failed and does not say why", what)
	case strings.ContainsAny(strings.TrimRight(said, "\n"), "\x00\x1b\r"):
		t.Errorf("%s: it says %q", what, said)
	}
}

// readAll runs all calls on data, except, unless patient, tail, which takes half a second to find
// that the trace has no writer.
func (r *reader) readAll(data []byte, patient bool) {
	r.t.Helper()
	for _, args := range readings {
		if args[0] != "tail" || patient {
			r.read(args, data)
		}
	}
}

// readSome runs a quarter of the calls on data, in turn, or all if all variants are tested: a damage
// is arbitrary, and each call sees many.
func (r *reader) readSome(data []byte) {
	r.t.Helper()
	r.turn++
	for i, args := range readings {
		if args[0] != "tail" && (i%4 == r.turn%4 || full()) {
			r.read(args, data)
		}
	}
}

// worst describes the calls that came nearest to their limits.
func (r *reader) worst() string {
	most := slices.MaxFunc(slices.Collect(maps.Keys(r.memory)), func(a, b string) int {
		return cmp.Compare(r.memory[a]/float64(max(dear[a], 1)), r.memory[b]/float64(max(dear[b], 1)))
	})
	return fmt.Sprintf("the most memory %.0f %% of 8 × file + 1 MiB (%s), the longest call %v", 100*r.memory[most], most, r.longest.Round(time.Millisecond))
}

// full reports whether all variants are tested, however long it takes.
func full() bool { return os.Getenv("SCOPEVIEW_FAULT") == "full" }

const traceDir = "../../internal/trace"

// FuzzTool: for any file, every command ends with one of the tool's exit codes, within the memory
// and time limits of reading. Only some commands, selected by the file's contents, read each file:
// with all of them, few files would be read.
func FuzzTool(f *testing.F) {
	for i, g := range tracetest.Goldens(f, traceDir) {
		if i%7 == 0 || full() { // TestG23Tool reads them too
			f.Add(g.Bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 1<<20 {
			return
		}
		r := newReader(t)
		const groups = 5
		for i, args := range readings {
			if i%groups == int(crc32.ChecksumIEEE(data)%groups) && args[0] != "tail" {
				r.read(args, data)
			}
		}
	})
}

// TestG23Tool: every command reads every golden, and each one that is cut off or has a bit flipped is
// read by a quarter of them, in turn.
func TestG23Tool(t *testing.T) {
	if !tracetest.InChild(t) {
		return
	}
	r := newReader(t)
	goldens := tracetest.Goldens(t, traceDir)
	if testing.Short() {
		goldens = slices.DeleteFunc(goldens, func(g tracetest.Golden) bool { return len(g.Name)%3 != 0 })
	}
	step := 2999
	if full() {
		step = 17
	}
	for _, g := range goldens {
		data := g.Bytes(t)
		r.readAll(data, full())
		for i := len(g.Name); i < len(data); i += 1 + step/8 {
			if data[i] == 0 {
				continue
			}
			i += step
			if i >= len(data) {
				break
			}
			r.readSome(data[:i])
			data[i] ^= 1 << (i % 8)
			r.readSome(data)
			data[i] ^= 1 << (i % 8)
		}
		if t.Failed() {
			t.Fatalf("reading %s", g.Name)
		}
	}
	t.Logf("G23: %d goldens, cut off and with bits flipped, %d calls of the tool: none failed otherwise than it says, %s", len(goldens), r.calls, r.worst())
}
