//go:build !scope_off

package record

import "strings"

// TestNamed returns the name of a test's scope and row, and its arguments. When names get
// scarce, subtests have the name of their test, and their own name as an argument.
func TestNamed(name string) (called string, args []any) {
	if top, _, sub := strings.Cut(name, "/"); sub && NamesCrowded() {
		return top, []any{KV(TestName, name)}
	}
	return name, nil
}
