//go:build linux

package main

import (
	"math"
	"slices"
	"time"
)

// reading is a number at a time.
type reading struct {
	at time.Duration
	v  float64
}

// slope is the growth of a number per minute, with its uncertainty.
type slope struct{ perMinute, uncertain float64 }

// blocks is the number of medians for the line.
const blocks = 12

// slopeOf draws a line through the medians of the readings in blocks of equal
// length, by least squares: single readings of resident memory jump by the
// window's steps, and neighbours are alike, so that they would promise more
// certainty than there is.
func slopeOf(rs []reading) (s slope, ok bool) {
	if len(rs) < 2*blocks {
		return s, false
	}
	var x, y []float64
	for i := range blocks {
		block := rs[i*len(rs)/blocks : (i+1)*len(rs)/blocks]
		v := make([]float64, len(block))
		for k, r := range block {
			v[k] = r.v
		}
		slices.Sort(v)
		x = append(x, (block[0].at+block[len(block)-1].at).Minutes()/2)
		y = append(y, v[len(v)/2])
	}
	mx, my := mean(x), mean(y)
	var xx, xy float64
	for i := range x {
		xx += (x[i] - mx) * (x[i] - mx)
		xy += (x[i] - mx) * (y[i] - my)
	}
	if xx == 0 {
		return s, false
	}
	s.perMinute = xy / xx
	var rest float64
	for i := range x {
		d := y[i] - my - s.perMinute*(x[i]-mx)
		rest += d * d
	}
	s.uncertain = 2 * math.Sqrt(rest/(blocks-2)/xx) // twice its standard error
	return s, true
}

func mean(v []float64) (m float64) {
	for _, x := range v {
		m += x / float64(len(v))
	}
	return m
}
