package annotate

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Places returns what tells, by the executable, the functions that the address of a frame is in,
// the innermost first: with the names that the linker has, and their first lines.
func (c *Code) Places(p *samples.Profile) (func(f *samples.Frame) []symbols.Place, error) {
	if c.Binary == nil {
		return nil, fmt.Errorf("where functions begin is not known: %s", c.Why)
	}
	slide, ok := c.slide(p)
	if !ok {
		return nil, fmt.Errorf("where functions begin is not known: %s", noSlide(p))
	}
	return func(f *samples.Frame) []symbols.Place {
		if f.PC == 0 || f.Object != c.object {
			return nil
		}
		return c.Binary.Places(f.PC - slide)
	}, nil
}
