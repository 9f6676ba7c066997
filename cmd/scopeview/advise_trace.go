package main

import (
	"math"
	"os"

	"github.com/scopeview/scopeview/internal/advice"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/show"
)

// citedShare is the minimum share of the time that advice cited by the doctor gains.
const citedShare = 0.01

// machineWeights returns the costs of operations on this machine, as scopeview calibrate measured
// them; nil if it has not run.
func machineWeights() advice.Weights {
	w, err := (&adviseOptions{}).loadWeights()
	if err != nil {
		return nil // scopeview advise reports the error
	}
	return w
}

// adviceOf returns the advice beside a trace that the doctor cites, and in words the advice that
// saves most memory; nil and "" if there is none.
func adviceOf(trace string) (a *reportdoctor.Advice, spares string) {
	p := advice.DefaultParams()
	p.Count = 0
	if w := machineWeights(); w != nil {
		p.Weights = w
	}
	r, raw, err := advice.OfTrace(trace, p)
	if err != nil {
		return &reportdoctor.Advice{Raw: raw, Error: err.Error(), Best: []reportdoctor.Advise{}}, ""
	}
	if r == nil {
		return nil, ""
	}
	dir, _ := os.Getwd() // without it paths are absolute
	a = &reportdoctor.Advice{Raw: raw, Best: []reportdoctor.Advise{}}
	for _, f := range r.Best(maxAdvice, citedShare) {
		a.Best = append(a.Best, reportdoctor.Advise{
			ID: f.ID, Site: f.Site, Place: advice.Place(f.Site, dir), Advice: f.Advice, Saves: f.Saves(),
			Time: int64(f.NS), Share: math.Round(f.Share*1e6) / 1e6, Bytes: int64(f.Bytes),
		})
	}
	switch {
	case len(r.Damage) > 0:
		a.Error = r.Damage[0]
	case len(r.Findings) == 0 && len(r.Notes) > 0:
		a.Error = r.Notes[0] // the lack of advice may be due to operations that could not be counted
	}
	return a, show.Text(r.Spares(dir))
}
