//go:build !scope_norseq && !scope_noyield && !scope_nogoid && !scope_pure && !scope_go && !race && amd64

package cputest

// witnessed reports whether this build of the recorder can know CPU times.
const witnessed = true
