//go:build linux && !race && !scope_pure

package victim

// mapped reports whether the build has mapped backings.
const mapped = true
