package analysis

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/trace"
)

// FactEnded is the key of the fact with the end of a program whose end the recorder saw:
// "exit" and its status, or "signal" and its name.
const FactEnded = "ended"

// End describes the end of a recorded program that did not end by itself and well.
type End struct {
	How  string `json:"how" says:"'exit': with a status that is not 0; 'signal'; 'deadlock'; 'unclosed': without Stop; the trace does not show why"`
	Text string `json:"text" says:"a sentence or two"`
}

// EndOf returns the end of the program of a trace in state s. It returns nil if the program
// ended well, or is running, or the trace does not have its end; "" is an unknown state.
func EndOf(t *trace.Trace, s State) *End {
	if line := DeadlockLine(t); line != "" {
		return &End{"deadlock", line + "."}
	}
	if e := EndedBy(t.Lookup(FactEnded), t.End()); e != nil || t.Closed() {
		return e
	}
	switch s {
	case StateAbandoned:
		return &End{"unclosed", fmt.Sprintf("The program ended without Stop %s after the recording began: by a panic, os.Exit, log.Fatal or a signal; the trace does not show which.", show.Duration(t.End()))}
	case StateUnknown:
		return &End{"unclosed", fmt.Sprintf("The trace was not closed, and has %s: the program ended without Stop, or still runs; that is not known here.", show.Duration(t.End()))}
	}
	return nil
}

// EndedBy describes the value of FactEnded of a program that was recorded for ns. It returns
// nil if the value is empty or the program ended well.
func EndedBy(fact string, ns int64) *End {
	how, what, _ := strings.Cut(fact, " ")
	after := " " + show.Duration(ns) + " after the recording began."
	switch {
	case how == "signal":
		return &End{how, "The program was ended by a signal (" + show.Name(what) + ")" + after}
	case how != "exit" || what == "0":
		return nil
	case what == "2":
		return &End{how, "The program ended with exit status 2, as a Go program does that panics," + after}
	}
	return &End{how, "The program ended with exit status " + show.Name(what) + after}
}
