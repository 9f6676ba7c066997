//go:build linux && (race || scope_pure)

package victim

// mapped tells whether the build has the backings that are mapped.
const mapped = false
