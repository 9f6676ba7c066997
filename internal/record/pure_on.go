//go:build scope_pure && !scope_off

package record

const pureBuild = true
