package doctor

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// Starved reports that the program did not get the CPUs that it could use because of other
// programs or limits. Then all times include theirs. In CPUs, on average.
type Starved struct {
	Text       string  `json:"text" says:"a sentence or two"`
	CPUs       float64 `json:"cpus" unit:"CPUs" says:"number that it may use at once"`
	Got        float64 `json:"got" unit:"CPUs" says:"average number used"`
	Share      float64 `json:"share" unit:"0 to 1" says:"share of the wanted CPUs that it did not get"`
	Others     float64 `json:"others" unit:"CPUs" says:"average number taken by other programs"`
	Quota      float64 `json:"quota" unit:"CPUs" says:"average number taken by the cgroup's CPU limit"`
	Hypervisor float64 `json:"hypervisor" unit:"CPUs" says:"average number taken by the hypervisor"`
}

// starvedShare is the part of the CPU time that others must take before it is reported.
// Ours: every machine with other programs takes some percent.
const starvedShare = 0.1

// findStarved divides the missing CPUs among their causes. The time that the program's
// threads waited in the system's run queue counts as taken by others up to the unused part
// of its CPUs: the rest they took from each other. Steal is the machine's; the program's
// part is in proportion to its part of the machine's busy time.
func (m *model) findStarved() *Starved {
	b := &m.beats
	got, waited := m.gotAndWaited()
	if got < 0 || m.asked <= 0 {
		return nil
	}
	over := float64(b.over)
	s := &Starved{CPUs: m.asked, Got: min(got, m.asked)}
	taken := min(waited, max(m.asked-got, 0))
	if b.throttled > 0 {
		s.Quota = min(float64(b.throttled)/over, taken)
	}
	s.Others = taken - s.Quota
	if b.busy >= 0 && b.cpuKnown() {
		// If there are more threads than CPUs, they wait for each other, and the system may
		// leave a CPU idle meanwhile: others took at most what they ran.
		s.Others = min(s.Others, float64(max(b.busy-b.user-b.system, 0))/over)
		taken = s.Others + s.Quota
	}
	if b.steal > 0 && b.busy > 0 {
		s.Hypervisor = min(float64(b.steal)/over*min(got*over/float64(b.busy), 1), max(m.asked-got-taken, 0))
	}
	lost := s.Others + s.Quota + s.Hypervisor
	s.Share = rounded(lost / max(got+lost, 1e-9))
	return s
}

// gotAndWaited returns the mean number of CPUs that the program had, and that its threads
// waited for. got is -1 if that is not known.
func (m *model) gotAndWaited() (got, waited float64) {
	b := &m.beats
	got = -1
	if b.cpuKnown() {
		got = float64(b.user+b.system) / float64(b.over)
	}
	if !m.switches {
		if b.over > 0 && b.wait >= 0 {
			waited = float64(b.wait) / float64(b.over)
		}
		return got, waited
	}
	var on, off int64
	for _, g := range m.gs {
		for i := range g.ivs {
			switch v := &g.ivs[i]; {
			case v.state == states.Preempted:
				off += v.to - v.from
			case v.core:
				on += v.to - v.from
			}
		}
	}
	over := float64(m.span())
	if got < 0 {
		got = float64(on) / over
	}
	return got, float64(off) / over
}

// withText sets the text, or returns nil if the share is below starvedShare.
func (s *Starved) withText(m *model) *Starved {
	if s == nil || s.Share < starvedShare {
		return nil
	}
	var who []string
	for _, w := range []struct {
		cpus float64
		text string
	}{{s.Others, "other processes"}, {s.Quota, "the cgroup's CPU limit"}, {s.Hypervisor, "the hypervisor"}} {
		if 20*w.cpus >= s.Others+s.Quota+s.Hypervisor {
			who = append(who, w.text+" took "+show.Ratio(w.cpus))
		}
	}
	limit := ""
	if m.limit > 0 && s.Quota > 0 && float64(m.procs) > m.limit {
		limit = fmt.Sprintf(" (it allows %s, and GOMAXPROCS is %d)", show.Number(m.limit), m.procs)
	}
	s.Text = fmt.Sprintf("The program got %s of %s CPUs and lacked %s of those that it wanted: %s%s. The times here include waiting for CPUs: record it where it gets them.",
		show.Ratio(s.Got), show.Number(s.CPUs), show.Percent(s.Share), strings.Join(who, ", "), limit)
	return s
}
