//go:build (!(linux && (amd64 || arm64) && go1.26 && !go1.28) || scope_pure || scope_go || race) && !scope_off

package scope

// beginAny begins a scope. It is a direct call, so that args need not escape.
func beginAny(head uint64, name string, args []any) handle { return begin(head, name, args) }

// handle is a scope that was begun: where its record is in the file, and when it
// began, by which the end finds out whether that record is still there. It holds
// no pointer, so one that outlives its recording can do no harm.
type handle struct {
	Loc   int64 // file offset of the record; 0: not recorded
	Start int64 // ticks
}

// End ends the scope, now.
func (h handle) End() {
	if h.Loc != 0 {
		endNow(h)
	}
}
