//go:build !scope_off

package record

import "strings"

// TestNamed returns what the scope and the row of a test are called, and its arguments. Where
// names get few, subtests are called by their test, and have their own name as an argument.
func TestNamed(name string) (called string, args []any) {
	if top, _, sub := strings.Cut(name, "/"); sub && NamesCrowded() {
		return top, []any{KV(TestName, name)}
	}
	return name, nil
}
