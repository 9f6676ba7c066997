package pgo

import (
	"errors"
	"fmt"
	"math"
)

// By is what makes profiles of different length comparable before they are added up.
type By string

// What profiles can be merged by.
const (
	ByWeight   By = "weight"   // a sample counts as a sample, wherever it is from
	ByDuration By = "duration" // a second of each counts the same
	ByShare    By = "share"    // each profile counts the same
)

// Sum is what is known of a profile before profiles are merged.
type Sum struct {
	Total    int64
	Unit     Unit
	Duration int64 // ns; 0: not known
}

// ErrUnits says that weights of different units can't be added up.
var ErrUnits = errors.New("some of the profiles have samples/count and some cpu/nanoseconds, which can't be added up; merge them by share, so that each counts the same")

// Factors returns by what the weights of each profile are to be multiplied, so that they
// count as by and weights say. Where by is ByWeight that is the weight; otherwise no weight
// becomes smaller than the largest profile has it.
func Factors(sums []Sum, by By, weights []float64) ([]float64, error) {
	largest := 0.0
	list := make([]float64, len(sums))
	for i, s := range sums {
		if by != ByShare && s.Unit != sums[0].Unit {
			return nil, ErrUnits
		}
		amount := 1.0
		switch by {
		case ByDuration:
			if s.Duration <= 0 {
				return nil, fmt.Errorf("profile %d does not tell how long it was collected; merge by share or by weight", i+1)
			}
			amount = float64(s.Duration)
		case ByShare:
			amount = float64(max(s.Total, 1))
		}
		largest = max(largest, amount)
		list[i] = weights[i] / amount
	}
	for i := range list {
		list[i] *= largest
	}
	return list, nil
}

// Merge adds the weights of q, multiplied by a factor and rounded, to p. What had a weight
// keeps one of at least 1. The error is ErrOverflow.
func (p *Profile) Merge(q *Profile, factor float64) error {
	places := make([]int32, len(q.Places))
	for i, place := range q.Places {
		places[i] = p.Place(place)
	}
	for pair, w := range q.Weight {
		if factor != 1 {
			scaled := math.Round(float64(w) * factor)
			if scaled >= math.MaxInt64 {
				return ErrOverflow
			}
			w = max(int64(scaled), 1)
		}
		pair.Leaf = places[pair.Leaf]
		if pair.Caller != None {
			pair.Caller = places[pair.Caller]
		}
		if err := p.add(pair, w); err != nil {
			return err
		}
	}
	p.Duration += q.Duration
	return nil
}
