package main

import (
	"github.com/scopeview/scopeview/internal/doctor"
	"github.com/scopeview/scopeview/internal/trace"
)

// doctorJSON is the document of doctor --json.
type doctorJSON struct {
	Lost map[string]int64 `json:"lost"`           // total, and by reason
	Ring *ringJSON        `json:"ring,omitempty"` // absent: the trace is none
	*doctor.Report
}

func doctorDocument(t *trace.Trace, r *doctor.Report) *doctorJSON {
	return &doctorJSON{lostJSON(t), ringDocument(t), r}
}
