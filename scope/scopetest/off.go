//go:build scope_off

package scopetest

func named(test string) (name string, args []any) { return test, nil }
