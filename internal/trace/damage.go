package trace

import "strings"

// Damage reports whether the defect means that the trace was cut or changed after it was written.
// It is false for defects that sound writers leave too: one that is running, that was killed
// between two stores, whose machine stopped, whose clock stepped, or that is newer than this
// reader.
func (p *Problem) Damage() bool {
	switch p.Text {
	case textHole, textOrphanExt, textOrphanEnd, textLostBegin, textBreak, textManyRows, textUnborn, textPages, textRestart, textCool, textUncopied:
		return false
	}
	for _, what := range unknownHere {
		if strings.Contains(p.Text, what) {
			return false
		}
	}
	return true
}

// unknownHere lists parts of sentences that are composed elsewhere; TestDamage finds them in
// traces.
var unknownHere = []string{"unknown kind", "unknown type", textLacks}
