package timeline

import "github.com/scopeview/scopeview/internal/trace"

// process is one of the processes of a merged trace, as the page shows it.
type process struct {
	Number   uint32 `json:"number"`
	Parent   uint32 `json:"parent,omitempty"` // the number of the process that started it
	Label    string `json:"label"`
	PID      uint32 `json:"pid"`
	Host     string `json:"host,omitempty"`
	Path     string `json:"path,omitempty"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Offset   int64  `json:"offset,omitempty"` // ns that its wall clock was set by
	Error    int64  `json:"error"`            // ns; -1: unknown
	Violated bool   `json:"violated,omitempty"`
	Lost     int64  `json:"lost,omitempty"`
	Lacks    string `json:"lacks,omitempty"`
}

// processes tells of which processes t was merged.
func (m *Meta) processes(t *trace.Trace) {
	for _, p := range t.Processes() {
		m.Shift = p.Shift
		m.Processes = append(m.Processes, process{
			Number: p.Number, Parent: p.Parent, Label: p.Label, PID: p.PID, Host: p.Host, Path: p.Path, From: p.From, To: p.To,
			Offset: p.Offset, Error: p.Error, Violated: p.Violated, Lost: p.Lost, Lacks: p.Lacks,
		})
	}
}
