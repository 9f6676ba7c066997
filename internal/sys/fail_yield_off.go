//go:build !scope_noyield

package sys

const failYield = false
