//go:build scope_norseq || scope_noyield || scope_nogoid || scope_pure || scope_go || race

package cputest

const witnessed = false
