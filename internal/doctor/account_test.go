package doctor

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	handedText  = regexp.MustCompile(`; for ([0-9.]+)% of it the lock was free or handed over`)
	missingText = regexp.MustCompile(`; for ([0-9.]+)% of it no holder is known`)
)

// addsUp checks that the numbers of a finding about a lock are consistent: the summed waits
// are at most the longest queue times the recorded holds and what the finding reports as
// missing.
func addsUp(t *testing.T, f *Finding) {
	t.Helper()
	u := f.use
	if u == nil || u.l.place || !u.l.kind.Held() || len(u.line.n) == 0 {
		return
	}
	text := strings.Join(f.Evidence, "\n")
	named := 0.0
	for _, re := range []*regexp.Regexp{handedText, missingText} {
		if m := re.FindStringSubmatch(text); m != nil {
			percent, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			named += percent/100 + 0.005
		}
	}
	some := float64(u.line.upTo(1<<63 - 1))
	explained := float64(u.busy) + (named+2*minMentioned)*some // below minMentioned the finding mentions nothing
	if most := float64(slices.Max(u.line.n)); float64(u.wait-u.l.shortWait) > most*explained {
		t.Errorf("%d ns of waiting, at most %v in line, and %v ns are explained:\n%s\n%s", u.wait, most, explained, f.Text, text)
	}
	if missing := missingText.MatchString(text); missing && strings.Contains(text, "times a second") {
		t.Errorf("how often it can be had is not known where holds are missing:\n%s", text)
	}
	if f.Worst != nil && f.Worst.ToNS-f.Worst.FromNS > u.wait {
		t.Errorf("the longest wait is longer than all together: %+v, %d", f.Worst, u.wait)
	}
}

// TestFactsAddUp: whichever holds a trace lacks, a finding's waits and holds add up, or it
// reports what is missing.
func TestFactsAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	incomplete, named := 0, 0
	for _, x := range examples {
		for _, lost := range []float64{0, 0.5, 1} {
			w := play(x.cores, x.program(1))
			if len(w.m.locks) == 0 {
				break
			}
			if x.prepare != nil {
				x.prepare(w, 1)
			}
			for _, l := range w.m.locks {
				l.every = l.every && lost == 0
				l.holds = slices.DeleteFunc(l.holds, func(turn) bool { return r.Float64() < lost })
			}
			report := w.examine()
			valid(t, w, report)
			for _, f := range report.Findings {
				if f.OfLock() && f.use != nil && !f.use.l.place {
					incomplete++
					if missingText.MatchString(strings.Join(f.Evidence, "\n")) {
						named++
						if lost == 0 {
							t.Errorf("%s: all holds are there: %q", x.verdict, f.Evidence)
						}
					}
				}
			}
		}
	}
	if incomplete < 8 || named < 4 {
		t.Errorf("%d findings about locks, of which %d say what is missing", incomplete, named)
	}
}

// TestHandedOn: if a goroutine that was handed the lock waits for a processor, the finding
// reports that.
func TestHandedOn(t *testing.T) {
	w := play(2, func(p *proc) {
		p.w.slow = 500 * us // until a woken goroutine runs
		l := p.w.mutex("mu")
		p.parallel(8, func(p *proc, i int) {
			for range 50 {
				p.scope("count", func() { p.take(l); p.run(50 * us); p.give(l) })
			}
		})
	})
	r := w.examine()
	valid(t, w, r)
	f := found(r, convoy)
	if f == nil {
		t.Fatal(list(r))
	}
	text := strings.Join(f.Evidence, "\n")
	if !strings.Contains(text, "recorded holds explain 9.") || !strings.Contains(text, "waited for a processor") || missingText.MatchString(text) {
		t.Errorf("%s\n%s", f.Text, text)
	}
}

// TestLockWaitsOfTheStarved: waits for locks are reported even if the program lacked CPUs.
func TestLockWaitsOfTheStarved(t *testing.T) {
	for _, test := range []struct {
		name   string
		robbed int64 // multiple of the time that it runs
		locked int64 // ns of each round
		place  bool  // package scope does not record the lock
		want   bool
	}{
		{"starved, and waits", 3, 5 * ms, false, true},
		{"starved, and waits for a lock that is not ours", 3, 5 * ms, true, true},
		{"starved, and hardly waits", 3, 1 * us, false, false},
		{"waits for cores that are busy", 0, 5 * ms, false, false},
	} {
		w := play(2, func(p *proc) {
			l, other := p.w.mutex("mu"), &syncMutex{}
			p.parallel(4, func(p *proc, i int) {
				for range 20 {
					p.run(10 * ms)
					p.robbed(test.robbed*10*ms + 1)
					p.scope("count", func() {
						if test.place {
							p.lockSync(other, "count")
						} else {
							p.take(l)
						}
						p.run(test.locked)
						p.robbed(test.robbed*test.locked + 1)
						if test.place {
							p.unlockSync(other)
						} else {
							p.give(l)
						}
					})
				}
			})
		})
		w.m.beats.over = w.now
		r := w.examine()
		f := found(r, lockContention)
		if (r.Starved != nil) != (test.robbed > 0) || (f != nil) != test.want {
			t.Errorf("%s: starved %v: %s", test.name, r.Starved, list(r))
			continue
		}
		if f != nil && (f.Gain != unknownGain || f.Confidence > 0.5 || !strings.Contains(f.Text, "count (") && !strings.Contains(f.Text, "while count holds it") || !strings.Contains(f.Text, "did not get the CPUs")) {
			t.Errorf("%s: %s", test.name, list(r))
		}
	}
}
