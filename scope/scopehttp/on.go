//go:build !scope_off

package scopehttp

// without reports whether package scope compiles to nothing.
const without = false
