//go:build linux && !amd64 && !scope_off && !scope_pure && !race

package record_test

// steppers is empty: stepping is not supported here.
type steppers struct{}

func stepsOf([]string) []string { return nil }

func (t *truth) step([]string) {}
