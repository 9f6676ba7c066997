package pgo

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// By selects how profiles of different length are made comparable before they are added.
type By string

// The ways to merge profiles.
const (
	ByWeight   By = "weight"   // every sample counts the same
	ByDuration By = "duration" // a second of each profile counts the same
	ByShare    By = "share"    // each profile counts the same
)

// Errors of merging.
var (
	ErrUnits      = errors.New("its weights differ from the earlier ones (samples/count and cpu/nanoseconds), and the time between samples is not known; merge by share, so that each profile counts the same")
	ErrLong       = errors.New("the total duration exceeds 292 years: its duration, or an earlier one, is wrong")
	ErrNoDuration = errors.New("it has no duration; merge by share or by weight")
)

// The weight of a profile in a merge by share, and its duration in one by duration: large
// enough to keep small weights.
const (
	shareTotal   = 1e9
	durationLong = 10_000 * time.Second
)

// mostSources limits the comments of a merge; of further profiles only the number is kept.
const mostSources = 100

// Merger adds profiles.
type Merger struct {
	sum     *Profile
	by      By
	sources int
}

// NewMerger returns a Merger.
func NewMerger(by By) *Merger { return &Merger{by: by} }

// Add adds a profile with the given weight. The name becomes a comment. The error is
// ErrUnits, ErrNoDuration, ErrLong or ErrOverflow.
func (m *Merger) Add(name string, q *Profile, weight float64) error {
	if m.sum == nil {
		m.sum = New(q.Unit)
		m.sum.Period = q.Period
	}
	total, err := q.Total()
	if err != nil {
		return err
	}
	factor, err := m.oneUnit(q)
	if err != nil {
		return err
	}
	factor *= weight
	switch m.by {
	case ByDuration:
		if q.Duration <= 0 {
			return ErrNoDuration
		}
		factor *= float64(durationLong) / float64(q.Duration)
	case ByShare:
		factor *= shareTotal / float64(max(total, 1))
	}
	if err := m.sum.scaled(q, factor); err != nil {
		return err
	}
	if m.by != ByWeight || weight != 1 {
		m.sum.Period = 0 // a sample of the sum represents another time
	}
	if q.Duration > math.MaxInt64-m.sum.Duration {
		return ErrLong
	}
	m.sum.Duration += q.Duration
	m.source(fmt.Sprintf("%s: %d %s, by %s × %g", name, total, q.Unit, m.by, weight), q.Comments)
	return nil
}

// oneUnit returns the factor for q that gives it the sum's unit. If one of them counts
// samples and the other time, samples are converted to the time between them.
func (m *Merger) oneUnit(q *Profile) (float64, error) {
	switch {
	case len(q.Weight) == 0:
		return 1, nil
	case m.by == ByShare:
		return 1, nil
	case len(m.sum.Weight) == 0:
		m.sum.Unit, m.sum.Period = q.Unit, q.Period
		return 1, nil
	case m.sum.Unit == q.Unit:
		if m.sum.Period != q.Period {
			m.sum.Period = 0
		}
		return 1, nil
	case q.Period > 0:
		return float64(q.Period), nil
	case m.sum.Period > 0:
		before := m.sum
		m.sum = New(Nanoseconds)
		m.sum.Duration, m.sum.Comments = before.Duration, before.Comments
		return 1, m.sum.scaled(before, float64(before.Period))
	}
	return 0, ErrUnits
}

// source adds comments on a source of the sum, and on the sources of that.
func (m *Merger) source(line string, its []string) {
	m.sources++
	list := append(m.sum.Comments, line)
	for _, c := range its {
		list = append(list, "  "+c)
	}
	m.sum.Comments = list[:min(len(list), mostSources)]
}

// Profile returns the sum, and the number of profiles in it.
func (m *Merger) Profile() (*Profile, int) {
	if m.sum == nil {
		m.sum = New(Samples)
	}
	if len(m.sum.Comments) == mostSources {
		m.sum.Comments[mostSources-1] = fmt.Sprintf("… of %d profiles in all", m.sources)
	}
	return m.sum, m.sources
}

// scaled adds the weights of q, multiplied by a factor and rounded. A positive weight stays
// at least 1.
func (p *Profile) scaled(q *Profile, factor float64) error {
	locations := make([]int32, len(q.Locations))
	for i, location := range q.Locations {
		locations[i] = p.Location(location)
	}
	for function, w := range q.Lost {
		p.lose(function, int64(min(float64(w)*factor, math.MaxInt64/2)))
	}
	for pair, w := range q.Weight {
		if factor != 1 {
			f := math.Round(float64(w) * factor)
			if f >= math.MaxInt64 {
				return ErrOverflow
			}
			w = max(int64(f), 1)
		}
		pair.Leaf = locations[pair.Leaf]
		if pair.Caller != None {
			pair.Caller = locations[pair.Caller]
		}
		if err := p.add(pair, w); err != nil {
			return err
		}
	}
	return nil
}
