package trace

import "github.com/scopeview/scopeview/internal/format"

// ReadSwitches reads the switch block at a Loc and appends its switches to dst. ok is false if a
// ring has overwritten it.
type ReadSwitches func(dst []format.Switch, at format.Loc) (s format.Switches, ok bool, err error)

// SwitchBlocks returns the Locs of switch blocks, in the order written, and a function that reads
// them in any order.
func (t *Trace) SwitchBlocks() ([]format.Loc, ReadSwitches) {
	var r blockReader
	return t.asWritten(t.sched.switches), func(dst []format.Switch, at format.Loc) (s format.Switches, ok bool, err error) {
		typ, p, err := r.read(t, at)
		if err == errGone || err == nil && typ != format.BlockSwitch {
			return s, false, nil
		}
		if err == nil {
			s, err = format.DecodeSwitches(dst, p)
		}
		return s, err == nil, err
	}
}
