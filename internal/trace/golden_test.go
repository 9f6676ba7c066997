package trace_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/trace"
	"github.com/scopeview/scopeview/internal/trace/text"
)

var update = flag.Bool("update", false, "rewrite what the goldens expect")

// golden is a file of testdata: a description, a trace as text and the expected events.
type golden struct {
	name   string
	story  string
	trace  string
	expect string
}

// goldens reads all goldens. The files are in the form of txtar: a comment, then parts that begin
// with a line -- name --.
func goldens(t testing.TB) []golden {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var gs []golden
	for _, p := range paths {
		b := filetest.Read(t, p)
		g := golden{name: strings.TrimSuffix(filepath.Base(p), ".txtar")}
		parts := regexp.MustCompile(`(?m)^-- (\w+) --\n`).Split(string(b), -1)
		if len(parts) != 3 || !strings.Contains(string(b), "-- trace --") || !strings.Contains(string(b), "-- expect --") {
			t.Fatalf("%s: want a story, -- trace -- and -- expect --", p)
		}
		g.story, g.trace, g.expect = parts[0], parts[1], parts[2]
		if g.story == "" {
			t.Errorf("%s: has no story", p)
		}
		gs = append(gs, g)
	}
	return gs
}

// bytes returns the trace; a golden may also be raw bytes that are no trace at all.
func (g *golden) bytes(t testing.TB) []byte {
	t.Helper()
	if s, ok := strings.CutPrefix(g.trace, "notrace "); ok {
		return []byte(strings.TrimSuffix(s, "\n"))
	}
	b, err := text.Assemble(strings.NewReader(g.trace))
	if err != nil {
		t.Fatalf("%s: %v", g.name, err)
	}
	return b
}

func (g *golden) success() bool { return strings.HasPrefix(g.expect, "SUCCESS") }

// read renders everything that the reader returns.
func read(data []byte) (string, error) {
	t, err := trace.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", err
	}
	var b []byte
	err = t.Events(trace.Options{}, func(e *trace.Event) bool {
		b = append(appendEvent(b, t, e), '\n')
		return true
	})
	if err != nil {
		return "", err
	}
	for _, x := range t.Beats() {
		b = fmt.Appendf(b, "beat %d", x.Time)
		for _, v := range x.Values {
			b = fmt.Appendf(b, " %s=%d", v.Field, v.Value)
		}
		for _, th := range x.Threads {
			b = fmt.Appendf(b, " %d:%d:%d", th.ID, th.CPU, th.Wait)
		}
		b = append(b, '\n')
	}
	for _, x := range t.Info {
		b = fmt.Appendf(b, "info %q %q\n", x.Key, x.Value)
	}
	for _, p := range t.Processes() {
		b = fmt.Appendf(b, "process %+v\n", p)
	}
	for _, s := range t.Scheds() {
		b = fmt.Appendf(b, "sched of %s: %+v wall=%d, %d streams; its 1500 is %d, its goroutine 7 %d\n", s.Label, s.Own, s.Wall, len(s.GoTraces), s.At(1500), s.Goid(7))
	}
	if from, to, ok := t.Excerpt(); ok {
		b = fmt.Appendf(b, "excerpt %d..%d\n", from, to)
	}
	for _, g := range t.Goroutines() {
		b = fmt.Appendf(b, "goroutine %+v\n", g)
	}
	for _, x := range t.Gaps() {
		b = fmt.Appendf(b, "gap %d..%d %s %d\n", x.From, x.To, x.Reason, x.Count)
	}
	for _, x := range t.Breaks() {
		b = fmt.Appendf(b, "break %d..%d\n", x.From, x.To)
	}
	for _, x := range t.Notes {
		b = fmt.Appendf(b, "note %d %q\n", x.Time, x.Text)
	}
	t.EachStack(func(s *trace.Stack) bool {
		b = fmt.Appendf(b, "stack %q %d calls=%d weight=%d cut=%v", t.Name(s.Name), s.ID, s.Calls, s.Weight, s.Cut)
		for _, f := range s.Frames {
			b = fmt.Appendf(b, " %s@%s:%d/%d/%v", f.Function, f.File, f.Line, f.Start, f.Inlined)
		}
		b = append(b, '\n')
		return true
	})
	for _, c := range t.Calls() {
		b = fmt.Appendf(b, "calls %q %d recorded=%d off=%v since=%d", t.Name(c.Name), c.Calls, c.Recorded, c.Off, c.Since)
		if c.Unseen > 0 {
			b = fmt.Appendf(b, " unseen=%d", c.Unseen)
		}
		b = append(b, '\n')
	}
	b, err = readSched(b, t)
	if err != nil {
		return "", err
	}
	var lost []string
	for l, n := range t.Lost() {
		lost = append(lost, fmt.Sprintf("lost %s %d\n", l, n))
	}
	slices.Sort(lost)
	b = append(b, strings.Join(lost, "")...)
	if o := t.Overwritten(); t.Ring() > 0 {
		b = fmt.Appendf(b, "ring of %d bytes, %d records overwritten, all there from %d\n", t.Ring(), o.Records, o.Until)
	}
	for _, p := range t.Problems() {
		b = fmt.Appendf(b, "problem at %d, %d times: %s\n", p.Offset, p.Count, p.Text)
	}
	return string(fmt.Appendf(b, "end %d closed %v size %d\n", t.End(), t.Closed(), t.Size())), nil
}

// readSched renders the blocks that are read on demand.
func readSched(b []byte, t *trace.Trace) ([]byte, error) {
	for _, g := range t.GoTraces() {
		data, err := io.ReadAll(g.Reader())
		if err != nil || int64(len(data)) != g.Size {
			return nil, fmt.Errorf("%d bytes of a Go trace of %d: %w", len(data), g.Size, err)
		}
		if len(data) > 64 {
			data = fmt.Appendf(nil, "%d bytes, %08x", len(data), crc32.ChecksumIEEE(data))
		}
		b = fmt.Appendf(b, "gotrace %d missing=%v %q\n", g.Stream, g.Missing, data)
	}
	err := t.EachSwitches(func(s *format.Switches) bool {
		b = fmt.Appendf(b, "switches of %d, %d..%d first=%v lost=%v on=%v %v\n", s.Thread, s.Base, s.Until, s.First, s.Lost, s.On, s.List)
		return true
	})
	if err != nil {
		return nil, err
	}
	b = readFiles(b, t)
	if b, err = readSamples(b, t); err != nil {
		return nil, err
	}
	return b, t.EachLockSums(func(l *format.LockSums) bool {
		b = fmt.Appendf(b, "%s %q at %#x by %d: acquired=%d contended=%d short=%d wait=%d\n", format.LockKindNames[l.Kind], t.Name(l.Name), l.Addr,
			t.Nanos(l.Ticks), l.Acquired, l.Contended, l.Short, l.ShortWait)
		return true
	})
}

// readSamples renders samples with their stacks.
func readSamples(b []byte, t *trace.Trace) ([]byte, error) {
	for _, c := range t.Counters() {
		b = fmt.Appendf(b, "counter %q %q lost=%d\n", c.Name, c.Unit, c.Lost)
	}
	err := t.EachSample(func(s *trace.Sample) bool {
		b = fmt.Appendf(b, "sample of %d at %d: %d %s of %s kernel=%v cpu=%d stack %d", s.Thread, s.Time, s.Weight, s.Unit, s.Counter, s.Kernel, s.CPU, s.Stack)
		for _, f := range t.AppendFrames(nil, s.Stack) {
			b = fmt.Appendf(b, " %s@%s:%d/%d/%v", f.Function, f.File, f.Line, f.Start, f.Inlined)
		}
		b = fmt.Appendf(b, " %#x", t.PCs(s.Stack))
		if x := t.ProgramOf(s); x.PID != 0 {
			b = fmt.Appendf(b, ", of process %d, which runs %q", x.PID, x.Path)
		}
		for _, pc := range t.PCs(s.Stack) {
			if o := t.CodeAt(pc); o != nil {
				b = fmt.Appendf(b, ", %#x of %q %q", pc-o.From+o.Addr, o.Path, o.BuildID)
			}
		}
		b = append(b, '\n')
		return true
	})
	return b, err
}

// readFiles renders the files stored with a trace.
func readFiles(b []byte, t *trace.Trace) []byte {
	for _, f := range t.Files() {
		content := make([]byte, f.Size)
		n, err := f.Reader().ReadAt(content, 0)
		b = fmt.Appendf(b, "file %q kind %d, %d bytes in %d, missing=%v: %q %v\n", f.Name, f.Kind, f.Size, f.Stored, f.Missing, content[:n], err)
	}
	return b
}

func TestGoldens(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			got, err := read(g.bytes(t))
			if err != nil {
				got = fmt.Sprintf("FAILURE %q\n", regexp.QuoteMeta(err.Error()))
			} else {
				got = "SUCCESS\n" + got
			}
			if *update && (err == nil || g.expect == "" || g.success()) {
				file := g.story + "-- trace --\n" + g.trace + "-- expect --\n" + got
				if err := os.WriteFile("testdata/"+g.name+".txtar", []byte(file), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if pattern, ok := strings.CutPrefix(g.expect, "FAILURE "); ok {
				var re string
				if _, e := fmt.Sscanf(pattern, "%q", &re); e != nil {
					t.Fatalf("bad pattern %s: %v", pattern, e)
				}
				if err == nil {
					t.Fatalf("opens, want an error that matches %q", re)
				}
				if !regexp.MustCompile(re).MatchString(err.Error()) {
					t.Errorf("the error is %q, want a match of %q", err, re)
				}
				return
			}
			if got != g.expect {
				t.Errorf("got:\n%s\nwant:\n%s", got, g.expect)
			}
		})
	}
}

// TestDumpGoldens checks that Assemble turns Dump's text of a golden into the same bytes.
func TestDumpGoldens(t *testing.T) {
	for _, g := range goldens(t) {
		if !g.success() {
			continue
		}
		data := g.bytes(t)
		var out bytes.Buffer
		if err := text.Dump(&out, bytes.NewReader(data), int64(len(data))); err != nil {
			t.Errorf("%s: %v", g.name, err)
			continue
		}
		again, err := text.Assemble(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Errorf("%s: %v\n%s", g.name, err, out.Bytes())
		} else if !bytes.Equal(data, again) {
			t.Errorf("%s: dump and assemble give other bytes:\n%s", g.name, out.Bytes())
		}
	}
}

// TestGoldensCover checks that every kind, slot type and block type is in some golden.
func TestGoldensCover(t *testing.T) {
	var all strings.Builder
	for _, g := range goldens(t) {
		all.WriteString(g.trace)
	}
	has := func(what, pattern string) {
		if !regexp.MustCompile(pattern).MatchString(all.String()) {
			t.Errorf("no golden has the %s", what)
		}
	}
	for _, s := range format.Specs {
		has("kind "+s.Name, `(?m)^ *`+s.Name+` `)
	}
	for _, s := range format.SlotNames[1:] {
		if s != "" {
			has("slot "+s, ` `+s+`:`)
		}
	}
	for _, s := range format.Blocks[1:] {
		has("block "+s.Name, `(?m)^`+s.Name+` `)
	}
}
