//go:build !scope_off

package hooks

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/record"
)

// countingEnds ends the counting for advice; nil if the program does not count.
var countingEnds func() error

// counting starts counting for advice if the environment asks for it. Only the file that a build
// with --advise adds calls it, so other programs do not contain that code.
func counting(begin func(trace string, asleep func() bool) error, end func() error) {
	if err := begin(record.Path(), func() bool { return isAsleep != nil && isAsleep() }); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not counting for advice: %v\n", err)
		return
	}
	countingEnds = end
}
