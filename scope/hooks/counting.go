//go:build !scope_off

package hooks

import (
	"fmt"
	"os"

	"github.com/scopeview/scopeview/internal/record"
)

// countingEnds ends what counting has begun: nil where nothing is counted.
var countingEnds func() error

// counting has the program count what advice is given of, if the environment says so. Only the file
// that a build for advice adds calls it, so that others do not have the code.
func counting(begin func(trace string, asleep func() bool) error, end func() error) {
	if err := begin(record.Path(), func() bool { return isAsleep != nil && isAsleep() }); err != nil {
		fmt.Fprintf(os.Stderr, "scopeview: not counting what advice is given of: %v\n", err)
		return
	}
	countingEnds = end
}
