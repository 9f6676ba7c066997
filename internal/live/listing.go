package live

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scopeview/scopeview/internal/chunks"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report"
	"github.com/scopeview/scopeview/internal/timeline"
)

// Limits of listing a directory.
const (
	levelsMax  = 8                      // nested directories, below the one that is served
	entriesMax = 50_000                 // files and directories
	listAgain  = 500 * time.Millisecond // minimum time between two listings
)

// Trace is a line of the list, as JSON; docs/json.md describes it.
type Trace struct {
	Number  int        `json:"number" unit:"count" says:"its page is at '/t/NUMBER/', as long as the server runs; −1: it can't be shown"`
	Name    string     `json:"name" head:"Trace" says:"its path below the directory"`
	Start   *time.Time `json:"start" head:"Started" says:"when the recording began; null: not known"`
	Bytes   int64      `json:"bytes" head:"Size" unit:"bytes" says:"the file's size"`
	State   string     `json:"state" head:"Recording" says:"'running', 'closed', 'gone' (ended without Stop), 'unknown'"`
	Program string     `json:"program" head:"Program" says:"the executable; this and the next ones are empty if not known, and cut to 300 bytes"`
	Args    string     `json:"args" says:"how it was called"`
	PID     int64      `json:"pid" unit:"process"`
	Host    string     `json:"host" head:"Host"`
	Module  string     `json:"module" says:"the main module"`
	Build   string     `json:"build" head:"Build" says:"its version, and the commit it was built at"`
	BuildID string     `json:"build_id" says:"as 'go tool buildid' prints it"`
	Slow    []SlowName `json:"slow" head:"Slow (99th percentile and total)"`
	SlowOf  string     `json:"slow_of" says:"the part that 'slow' covers: 'pending' (it was not read yet), 'whole', 'begin' (its first 2,000,000 scopes, or what could be read in two seconds), 'failed' (up to where reading broke off)"`
	Why     string     `json:"why" says:"why it can't be shown; empty: it can"`
}

// columns are those of the list's page.
var columns = report.Table{Row: Trace{}, Text: "Trace, Program, Build, Host, Started, Size, Recording, Slow (99th percentile and total)"}

// List is a directory's traces, as JSON.
type List struct {
	Schema string  `json:"schema" says:"'scopeview.serve/1'"`
	Dir    string  `json:"dir" says:"as the command was given it"`
	Unseen bool    `json:"unseen" says:"the directory has more than is looked at"`
	Traces []Trace `json:"traces"`
}

// listing is the directory's list, and its cache.
type listing struct {
	mu   sync.Mutex
	wait time.Duration // listAgain
	made time.Time
	list *List
	seen map[string]*seen // by name
	slow slowQueue
}

// seen is a file in the last listing.
type seen struct {
	size  int64
	mtime time.Time
	found Trace
	final bool // the description stays valid as long as size and time do
	slow  slowNames
}

// look returns the traces, the newest first, followed by the unreadable ones. The list is a
// copy.
func (s *shelf) look() (*List, error) {
	l := &s.listing
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil || time.Since(l.made) > l.wait {
		if err := s.lookAgain(); err != nil {
			return nil, err
		}
	}
	list := *l.list
	list.Traces = slices.Clone(list.Traces)
	for i := range list.Traces {
		t := &list.Traces[i]
		if x := l.seen[t.Name]; x != nil && t.Why == "" {
			t.Slow, t.SlowOf = x.slow.names, x.slow.state()
		}
		t.Name = text(t.Name)
	}
	return &list, nil
}

// lookAgain reads the directory. listing.mu is held.
func (s *shelf) lookAgain() error {
	l := &s.listing
	now := make(map[string]*seen, len(l.seen))
	list := &List{Schema: "scopeview.serve/1", Dir: text(s.path), Traces: []Trace{}}
	full, err := s.walk(func(name string, d fs.DirEntry) {
		if x := s.see(name, d, l.seen[name]); x != nil {
			now[name] = x
			list.Traces = append(list.Traces, x.found)
		}
	})
	if err != nil {
		return err
	}
	list.Unseen = full
	slices.SortFunc(list.Traces, func(a, b Trace) int {
		return cmp.Or(started(b).Compare(started(a)), cmp.Compare(a.Name, b.Name))
	})
	l.seen, l.list, l.made = now, list, time.Now()
	l.slow.order(list, now)
	return nil
}

// started returns the start of a trace; for an unreadable one it is the zero time.
func started(t Trace) time.Time {
	if t.Start == nil {
		return time.Time{}
	}
	return *t.Start
}

// walk calls f with the files below the directory that have a trace's name. It follows no
// links, and skips hidden directories, whose traces are temporary. full reports that the
// directory has more entries than the limit.
func (s *shelf) walk(f func(name string, d fs.DirEntry)) (full bool, err error) {
	type level struct {
		dir   string
		depth int
	}
	left, deeper := entriesMax, false
	for todo := []level{{".", 0}}; len(todo) > 0 && !full; todo = todo[1:] { // breadth first
		at := todo[0]
		dir, err := s.root.Open(at.dir)
		if err != nil {
			if at.depth > 0 {
				continue // just removed, or not readable
			}
			return false, err
		}
		for more := true; more && !full; {
			entries, err := dir.ReadDir(1000)
			if more = err == nil; err != nil && err != io.EOF && at.depth == 0 {
				dir.Close()
				return false, err
			}
			for _, d := range entries {
				name := filepath.Join(at.dir, d.Name())
				switch ext := filepath.Ext(name); {
				case ext == extension || ext == packedExtension:
					f(name, d)
				case d.IsDir() && !strings.HasPrefix(d.Name(), ".") && at.depth < levelsMax:
					todo = append(todo, level{name, at.depth + 1})
				case d.IsDir() && !strings.HasPrefix(d.Name(), "."):
					deeper = true
				}
				if left--; left <= 0 {
					full = true
					break
				}
			}
		}
		dir.Close()
	}
	return full || deeper, nil
}

// see examines a file. It returns nil if that was just removed. was is its last state, or
// nil.
func (s *shelf) see(name string, d fs.DirEntry, was *seen) *seen {
	if why := noFile(d.Type()); why != "" {
		return &seen{final: true, found: Trace{Number: -1, Name: name, Why: why}}
	}
	st, err := s.root.Lstat(name)
	if err != nil {
		return nil
	}
	if was != nil && was.final && was.size == st.Size() && was.mtime.Equal(st.ModTime()) {
		return was
	}
	x := &seen{size: st.Size(), mtime: st.ModTime()}
	if was != nil {
		x.slow = was.slow
	}
	found, final, err := s.describe(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		// A new file may become a trace without another time.
		x.final = time.Since(st.ModTime()) > time.Minute
		x.found = Trace{Number: -1, Name: name, Bytes: st.Size(), Why: sentence(err)}
	default:
		x.found, x.final = found, final
	}
	return x
}

// noFile returns the reason why a file that is not regular is not shown; "" for a regular
// one.
func noFile(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "It is a symbolic link, which is not followed."
	case mode.IsDir():
		return "It is a directory with a trace's name."
	case !mode.IsRegular():
		return "It is not a regular file."
	}
	return ""
}

// describe reads the description of a trace for the list.
func (s *shelf) describe(name string) (t Trace, final bool, err error) {
	f, err := (&book{shelf: s, name: name}).open()
	if err != nil {
		return t, false, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return t, false, err
	}
	h, state, err := readHead(f)
	if err != nil {
		return t, false, err
	}
	start := time.Unix(0, h.StartWall)
	facts := readFacts(chunks.Of(f, size, &h, &state))
	build := strings.TrimPrefix(facts["version"], "(devel) ") // the commit is behind it
	t = Trace{
		Number: s.add(name).number, Name: name, Start: &start, Bytes: size, State: writerOf(f, state.Closed),
		Program: facts["program"], Args: facts["args"], PID: int64(h.PID), Host: facts["host"],
		Module: facts["module"], Build: build, BuildID: facts["build_id"],
	}
	return t, t.State == timeline.WriterClosed, nil
}

// factsIn is the number of a trace's first chunks that are searched for facts. A recorder
// writes them to the first chunk of blocks.
const factsIn = 8

// factMax is the maximum length of a fact's text, in bytes: a hostile trace may have long
// ones.
const factMax = 300

// readFacts reads what a trace says of its program, without reading all of it.
func readFacts(f chunks.File) map[string]string {
	facts := map[string]string{}
	buf := make([]byte, f.Chunk)
	for place := int64(1); place <= factsIn && facts["program"] == ""; place++ {
		c, ok, bad, err := f.ReadChunk(buf, place*f.Chunk)
		if err != nil || bad != nil || !ok || c.Kind != format.ChunkBlocks {
			continue
		}
		for walk := c.Blocks(); walk.Next(); {
			if walk.Err != nil || walk.Type != format.BlockInfo {
				continue
			}
			if vs, err := format.Blocks[format.BlockInfo].Read(nil, walk.Payload); err == nil && len(vs) == 2 {
				facts[string(vs[0].B)] = cutText(text(string(vs[1].B)), factMax)
			}
		}
	}
	return facts
}

// text makes a string valid for JSON.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// cutText shortens a text to at most n bytes, between two characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
}
