//go:build !scope_pure && !scope_off

package scope

const pureBuild = false
