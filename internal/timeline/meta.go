package timeline

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// Meta has the facts about a trace beside its scopes. Times are ns from the trace's start.
type Meta struct {
	Version int       `json:"version"`
	ID      string    `json:"id,omitempty"` // of the recording, for a page of a server
	Tool    string    `json:"tool"`
	Title   string    `json:"title"`
	Path    string    `json:"path"` // without the directory, which may be private
	Size    int64     `json:"size"`
	Start   time.Time `json:"start"`
	End     int64     `json:"end"`
	PID     uint32    `json:"pid"`
	Writer  string    `json:"writer"` // closed, running, gone, unknown
	Scopes  int64     `json:"scopes"`
	Whole   int64     `json:"whole,omitempty"` // of a ring: everything that began later is complete
	// Excerpt is the range that the trace has, if it is an excerpt of a recording.
	Excerpt *[2]int64   `json:"excerpt,omitempty"`
	Reduced bool        `json:"reduced"` // the tile is coarse
	Res     int64       `json:"res"`     // resolution
	Banner  []Said      `json:"banner"`
	Info    [][2]string `json:"info"`
	Names   []string    `json:"names"`
	// NamesFrom is the id of the first of Names.
	NamesFrom int        `json:"namesFrom,omitempty"`
	Places    *places    `json:"places,omitempty"`
	CPUs      float64    `json:"cpus"` // that it may use; 0: unknown
	Beats     beats      `json:"beats"`
	Gaps      [][4]any   `json:"gaps"` // from, to, records lost, reason
	Breaks    [][2]int64 `json:"breaks"`
	Notes     [][2]any   `json:"notes"` // time, text
	Summary   *Summary   `json:"summary"`
	Linked    int64      `json:"linked,omitempty"`    // number of items that are part of a request
	Processes []process  `json:"processes,omitempty"` // of a merged trace
	Shift     uint32     `json:"shift,omitempty"`     // of a merged trace's process ids, see format.Member
	Live      *Live      `json:"live,omitempty"`
	Loading   *Loading   `json:"loading,omitempty"`
	Reload    bool       `json:"reload,omitempty"` // request the whole trace again
}

// Loading is the progress of reading a trace that is shown meanwhile.
type Loading struct {
	Share float64 `json:"share"` // of its time
	Left  int64   `json:"left"`  // estimated remaining ns
}

// Live is the position from which a page continues.
type Live struct {
	Cursor string `json:"cursor"`
}

// Said is a line of the banner. Level is loss, warn or note.
type Said struct {
	Level string `json:"level"`
	Text  string `json:"text"`
}

// MetaOptions are facts that Index.Meta can't find in the trace.
type MetaOptions struct {
	Tool   string // version of the tool
	Path   string // of the trace's file
	Writer string // closed, running, gone, unknown; empty: closed or unknown
	// Part describes the selected part of the trace; "": all of it.
	Part string
	// Tile is the accompanying tile; nil: every scope.
	Tile *Tile
	// States, if not nil, are the accompanying states, whose problems are reported, and
	// StateRes is their resolution.
	States   *States
	StateRes int64
	// Places is the number of names whose places the page already has.
	Places int
	// More, if the tile is coarse, explains how to see more.
	More string
}

// Meta collects the facts about t, from which x was made.
func (x *Index) Meta(t *trace.Trace, o MetaOptions) *Meta {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o.Writer == "" {
		o.Writer = WriterUnknown
		if t.Closed() {
			o.Writer = WriterClosed
		}
	}
	m := &Meta{
		Version: 1, Tool: o.Tool, Title: title(o.Path), Path: filepath.Base(o.Path), Size: t.Size(),
		Start: t.Start().UTC(), End: max(t.End(), 0), PID: t.Header().PID, Writer: o.Writer, Scopes: x.scopes, Linked: x.linked,
		Names: t.Names(), Gaps: [][4]any{}, Breaks: [][2]int64{}, Notes: [][2]any{},
	}
	if o.Tile != nil && o.Tile.Res > 0 {
		m.Reduced, m.Res = true, o.Tile.Res
	}
	for len(m.Names) <= format.NameOther {
		m.Names = append(m.Names, [...]string{"", format.OtherNames}[len(m.Names)])
	}
	for _, g := range t.Gaps() {
		m.Gaps = append(m.Gaps, [4]any{g.From, g.To, g.Count, g.Reason.String()})
	}
	if o := t.Overwritten(); o.Records > 0 {
		m.Whole = o.Until
		m.Gaps = append(m.Gaps, [4]any{int64(0), o.Until, o.Records, "overwritten"})
	}
	if from, to, ok := t.Excerpt(); ok {
		m.Excerpt = &[2]int64{from, to}
	}
	for _, b := range t.Breaks() {
		m.Breaks = append(m.Breaks, [2]int64{b.From, b.To})
	}
	for _, n := range t.Notes {
		m.Notes = append(m.Notes, [2]any{n.Time, n.Text})
	}
	m.Places = placesOf(t.NamePlaces(o.Places))
	m.processes(t)
	m.Beats = beatsOf(t)
	m.CPUs = cpus(t)
	r := &analysis.Report{Trace: t, Path: m.Path, State: stateOf(o.Writer), Census: x.census, Cost: analysis.RecordingCost(t.Beats())}
	m.Banner = banner(r, o)
	for _, f := range r.Facts() {
		m.Info = append(m.Info, [2]string{f.Label, f.Text})
	}
	return m
}

// Values of Meta.Writer.
const (
	WriterClosed  = "closed"  // Stop completed
	WriterRunning = "running" // the program is running and writing
	WriterGone    = "gone"    // nothing writes it any more, and Stop was not called
	WriterUnknown = "unknown" // not closed, and this system can't determine the writer
)

// title returns the name of the trace's file without the extension.
func title(path string) string { return strings.TrimSuffix(filepath.Base(path), ".scope") }

// process is one of the processes of a merged trace, as the page shows it.
type process struct {
	Number   uint32 `json:"number"`
	Parent   uint32 `json:"parent,omitempty"` // number of the parent process
	Label    string `json:"label"`
	PID      uint32 `json:"pid"`
	Host     string `json:"host,omitempty"`
	Path     string `json:"path,omitempty"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Offset   int64  `json:"offset,omitempty"` // correction of its wall clock in ns
	Error    int64  `json:"error"`            // ns; -1: unknown
	Violated bool   `json:"violated,omitempty"`
	Lost     int64  `json:"lost,omitempty"`
	Lacks    string `json:"lacks,omitempty"`
}

// processes sets the processes of a merged trace.
func (m *Meta) processes(t *trace.Trace) {
	for _, p := range t.Processes() {
		m.Shift = p.Shift
		m.Processes = append(m.Processes, process{
			Number: p.Number, Parent: p.Parent, Label: p.Label, PID: p.PID, Host: p.Host, Path: p.Path, From: p.From, To: p.To,
			Offset: p.Offset, Error: p.Error, Violated: p.Violated, Lost: p.Lost, Lacks: p.Lacks,
		})
	}
}

// places are the places where names were given.
type places struct {
	Files []string `json:"files"`
	Of    [][4]any `json:"of"` // name, index of its file, line, function
}

func placesOf(list []trace.Place) *places {
	if len(list) == 0 {
		return nil
	}
	p, files := &places{}, map[string]int{}
	for _, x := range list {
		file, ok := files[x.File]
		if !ok {
			file = len(p.Files)
			files[x.File], p.Files = file, append(p.Files, x.File)
		}
		p.Of = append(p.Of, [4]any{x.Name, file, x.Line, x.Function})
	}
	return p
}

// Len returns the number of names with places.
func (p *places) Len() int {
	if p == nil {
		return 0
	}
	return len(p.Of)
}
