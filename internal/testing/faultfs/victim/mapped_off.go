//go:build linux && (race || scope_pure)

package victim

// mapped reports whether the build has the backings that are mapped.
const mapped = false
