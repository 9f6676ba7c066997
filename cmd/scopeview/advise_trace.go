package main

import (
	"math"
	"os"

	"github.com/scopeview/scopeview/internal/advice"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/show"
)

// citedShare is which share of the time a piece of advice gains at least that the doctor cites.
const citedShare = 0.01

// machineWeights are what operations take here, as scopeview calibrate measured them; nil: nobody did.
func machineWeights() advice.Weights {
	w, err := (&adviseOptions{}).loadWeights()
	if err != nil {
		return nil // scopeview advise says what is wrong with them
	}
	return w
}

// adviceOf is the advice that the doctor cites of what lies beside a trace, and of it, in words, what
// spares most memory; nil and "" without any.
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
	for _, f := range r.Best(toldAdvice, citedShare) {
		a.Best = append(a.Best, reportdoctor.Advise{
			ID: f.ID, Site: f.Site, Place: advice.Place(f.Site, dir), Advice: f.Advice, Saves: f.Saves(),
			Time: int64(f.NS), Share: math.Round(f.Share*1e6) / 1e6, Bytes: int64(f.Bytes),
		})
	}
	switch {
	case len(r.Damage) > 0:
		a.Error = r.Damage[0]
	case len(r.Findings) == 0 && len(r.Notes) > 0:
		a.Error = r.Notes[0] // that there is no advice may be for what could not be counted
	}
	return a, show.Text(r.Spares(dir))
}
