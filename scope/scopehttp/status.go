package scopehttp

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/scopeview/scopeview/scope"
)

// statusJSON is the document of the route status.
type statusJSON struct {
	Running     bool       `json:"running"`
	Path        string     `json:"path"`
	Recorded    int64      `json:"recorded"`
	Stacks      int64      `json:"stacks"`
	Lost        lostJSON   `json:"lost"`
	Overwritten int64      `json:"overwritten"`
	Misuse      misuseJSON `json:"misuse"`
	Bytes       int64      `json:"bytes"`
	Recorder    string     `json:"recorder"`
	LastError   string     `json:"last_error"`
	Filter      string     `json:"filter"`
	Off         bool       `json:"off"`
	Slow        int64      `json:"slow"`
	Snapshots   int64      `json:"snapshots"`
	Program     string     `json:"program"`
	PID         int        `json:"pid"`
	Go          string     `json:"go"`
}

type lostJSON struct {
	Total  int64 `json:"total"`
	Window int64 `json:"window"`
	Limit  int64 `json:"limit"`
	Space  int64 `json:"space"`
	IO     int64 `json:"io"`
	Busy   int64 `json:"busy"`
	Stop   int64 `json:"stop"`
	Ends   int64 `json:"ends"`
	Stacks int64 `json:"stacks"`
	Opens  int64 `json:"opens"`
	Buffer int64 `json:"buffer"`

	Unknown bool `json:"unknown"` // more may be lost
}

type misuseJSON struct {
	DoubleEnds  int64 `json:"double_ends"`
	ForeignEnds int64 `json:"foreign_ends"`
	StaleEnds   int64 `json:"stale_ends"`
	OtherNames  int64 `json:"other_names"`
	OtherStacks int64 `json:"other_stacks"`
	ArgsCut     int64 `json:"args_cut"`
}

func (h *handler) status(w http.ResponseWriter, _ *http.Request) error {
	s := scope.Stats()
	l, m := s.Lost, s.Misuse
	doc := statusJSON{
		Running:     s.Running,
		Path:        s.Path,
		Recorded:    s.Recorded,
		Stacks:      s.Stacks,
		Lost:        lostJSON{l.Total(), l.Window, l.Limit, l.Space, l.IO, l.Busy, l.Stop, l.Ends, l.Stacks, l.Opens, l.Buffer, l.Unknown},
		Overwritten: s.Overwritten,
		Misuse:      misuseJSON{m.DoubleEnds, m.ForeignEnds, m.StaleEnds, m.OtherNames, m.OtherStacks, m.ArgsCut},
		Bytes:       s.Bytes,
		Recorder:    s.Recorder,
		Filter:      s.Filter,
		Off:         s.Off,
		Slow:        s.Slow,
		Snapshots:   s.Snapshots,
		Program:     program(),
		PID:         os.Getpid(),
		Go:          runtime.Version(),
	}
	if s.LastError != nil {
		doc.LastError = s.LastError.Error()
	}
	b, err := json.MarshalIndent(&doc, "", "  ")
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(b, '\n'))
	return nil
}

// program returns the executable's name.
func program() string {
	exe, err := os.Executable()
	if err != nil {
		return "program"
	}
	return strings.TrimSuffix(filepath.Base(exe), ".exe")
}
