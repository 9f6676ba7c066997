package timeline

import "github.com/scopeview/scopeview/internal/trace"

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
