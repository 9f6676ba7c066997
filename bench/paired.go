package main

import (
	"fmt"
	"slices"
)

// fewestRounds is the number of observations needed for an interval of 95 %.
const fewestRounds = 6

// observation has one round of a row: slices of the two builds, in pairs.
type observation struct{ old, new, ratios []float64 }

func (o *observation) add(ns [2]float64) {
	o.old, o.new = append(o.old, ns[0]), append(o.new, ns[1])
	o.ratios = append(o.ratios, ns[1]/ns[0])
}

// comparison is a row: the medians of its rounds.
type comparison struct {
	old, new, ratios []float64
	lossy            int // rounds left out because scopes were lost
	fault            string
}

func (c *comparison) observe(o *observation) {
	c.old = append(c.old, median(o.old))
	c.new = append(c.new, median(o.new))
	c.ratios = append(c.ratios, median(o.ratios))
}

// interval returns the confidence interval of the median, of at least 95 %: from the k-th
// smallest observation to the k-th largest. It only assumes that rounds are independent: a
// round's median is above the true one as often as below.
func interval(v []float64) (low, high float64) {
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	// beyond is the probability that at most k of n are on one side.
	beyond, term := 0.0, 1.0
	for range n {
		term /= 2
	}
	k := 0
	for ; k < n/2; k++ {
		if beyond += term; 2*beyond > 0.05 {
			break
		}
		term = term * float64(n-k) / float64(k+1)
	}
	k = max(k, 1)
	return v[k-1], v[n-k]
}

// Verdicts of a comparison.
const (
	verdictSame    = "ok"
	verdictUnclear = "unclear"
	verdictWorse   = "WORSE"
	verdictControl = "control"
)

// cells returns the row's line in the table, and its verdict.
func (c *comparison) cells(row *comparedRow) (cells []string, verdict string) {
	note := ""
	if c.lossy > 0 {
		note = fmt.Sprintf("%d rounds left out, in which scopes were lost", c.lossy)
	}
	if c.fault == "" && len(c.ratios) < fewestRounds {
		c.fault = fmt.Sprintf("only %d rounds; %s", len(c.ratios), note)
	}
	if c.fault != "" {
		return []string{row.name, "", "", "", "", "", verdictFail, c.fault}, verdictFail
	}
	r := median(c.ratios)
	low, high := interval(c.ratios)
	within := "no"
	if r <= judgedRatio {
		within = "yes"
	}
	switch {
	case row.control:
		verdict, within = verdictControl, ""
	case r <= judgedRatio:
		verdict = verdictSame
	case low <= judgedRatio:
		verdict = verdictUnclear
	default:
		verdict = verdictWorse
	}
	return []string{
		row.name, quantity{median(c.old), "ns"}.String(), quantity{median(c.new), "ns"}.String(),
		fmt.Sprintf("%.3f", r), fmt.Sprintf("%.3f to %.3f", low, high), within, verdict, note,
	}, verdict
}
