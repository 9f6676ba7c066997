// Package release returns the version of this scopeview.
package release

import "runtime/debug"

// Checkout is the version of a build from a checkout without version control.
const Checkout = "checkout"

// Of returns the commit, else the version of the module, else Checkout.
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
