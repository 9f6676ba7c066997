package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace"
)

// lossReasons say why records were lost; they follow the number.
var lossReasons = []string{
	format.LossWindow: "came faster than the file could be extended",
	format.LossLimit:  "after the trace had reached its limit (scope.WithLimit)",
	format.LossSpace:  "while the file system was nearly full",
	format.LossIO:     "because the file could not be written",
	format.LossBusy:   "because no place was found in time",
	format.LossStop:   "begun while the recording stopped",
	format.LossEnd:    "are ends that found no place: their scopes show as open",
}

// loss is how many records were lost for one reason; 0: not said.
type loss struct {
	reason format.Loss
	count  int64
}

// losses lists what was lost, the most first.
func losses(t *trace.Trace) (list []loss, total int64) {
	for reason, n := range t.Lost() {
		list = append(list, loss{reason, n})
		total += n
	}
	// The header's count may be ahead of the heartbeats and gaps that give reasons.
	if more := t.State().Lost - total; more > 0 {
		list = append(list, loss{0, more})
		total += more
	}
	slices.SortFunc(list, func(a, b loss) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.reason, b.reason))
	})
	return list, total
}

func (l loss) String() string {
	why := "for a reason that is not recorded"
	switch {
	case l.reason > 0 && int(l.reason) < len(lossReasons):
		why = lossReasons[l.reason]
	case l.reason != 0:
		why = "for the reason " + l.reason.String()
	}
	return thousands(l.count) + " " + why
}

// lossLine tells of the losses in a line; it is empty without any.
func lossLine(t *trace.Trace) string {
	list, total := losses(t)
	if total == 0 {
		return ""
	}
	var whys []string
	for _, l := range list {
		whys = append(whys, l.String())
	}
	verb := "records were"
	if total == 1 {
		verb = "record was"
	}
	return fmt.Sprintf("%s %s lost: %s", thousands(total), verb, strings.Join(whys, "; "))
}

// strictness is the flag --strict.
type strictness bool

func (x *strictness) flag(cmd *cobra.Command) {
	cmd.Flags().BoolVar((*bool)(x), "strict", false, "exit with code 3 if records were lost")
}

// verdict is called when all that can be shown was: it tells on standard error of
// damage, place by place if the command has not, and makes damage, and with
// --strict losses, the exit code.
func (x strictness) verdict(s *streams, path string, t *trace.Trace, damage []trace.Problem) error {
	for _, p := range damage {
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show(path), problemText(&p))
	}
	if damaged(t) || len(damage) > 0 {
		fmt.Fprintf(s.err, "scopeview: %s is damaged: what could be read was shown; copy it again if there is another copy, or see scopeview verify\n", show(path))
		return &exit{code: exitFailed}
	}
	if _, lost := losses(t); lost > 0 && bool(x) {
		return &exit{code: exitLosses}
	}
	return nil
}

// damageOf are those of the problems that are no sound writer's.
func damageOf(problems []trace.Problem) []trace.Problem {
	return slices.DeleteFunc(problems, func(p trace.Problem) bool { return !p.Damage() })
}

func damaged(t *trace.Trace) bool { return len(damageOf(t.Problems())) > 0 }

// problemText is a problem with its place.
func problemText(p *trace.Problem) string {
	text := fmt.Sprintf("at offset %d: %s", p.Offset, harmless(p.Text))
	if p.Count > 1 {
		text += fmt.Sprintf(" (%s times, here first)", thousands(p.Count))
	}
	return text
}

// warnLosses says on standard error what was lost, for commands whose output
// has no place for it.
func warnLosses(s *streams, path string, t *trace.Trace) {
	if line := lossLine(t); line != "" {
		text := styles(s.errTerm && s.color).red(line)
		fmt.Fprintf(s.err, "scopeview: %s: %s\n", show(path), text)
	}
}
