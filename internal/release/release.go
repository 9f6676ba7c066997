// Package release says which version of scopeview this is of.
package release

import "runtime/debug"

// Checkout is the version of what was built from a checkout without version control.
const Checkout = "checkout"

// Of returns the version of a module proxy, or else the commit.
func Of() string {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return Checkout
	}
	for _, s := range b.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	if v := b.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return Checkout
}
