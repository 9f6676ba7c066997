//go:build !scope_off

package scopehttp

// without says that package scope compiles to nothing.
const without = false
