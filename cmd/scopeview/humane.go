package main

import "github.com/scopeview/scopeview/internal/analysis"

// Every view writes numbers and names alike.
var (
	humane    = analysis.Humane
	thousands = analysis.Thousands
	size      = analysis.Size
	percent   = analysis.Percent
	plural    = analysis.Plural
	show      = analysis.Show
	harmless  = analysis.Harmless
)
