package annotate

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Places returns a function that finds, in the executable, the functions that contain a frame's
// address, innermost first, with the linker's names and their first lines.
func (c *Code) Places(p *samples.Profile) (func(f *samples.Frame) []symbols.Place, error) {
	if c.Binary == nil {
		return nil, fmt.Errorf("the first lines of functions are not known: %s", c.Why)
	}
	slide, ok := c.slide(p)
	if !ok {
		return nil, fmt.Errorf("the first lines of functions are not known: %s", noSlide(p))
	}
	return func(f *samples.Frame) []symbols.Place {
		if f.PC == 0 || f.Object != c.object {
			return nil
		}
		return c.Binary.Places(f.PC - slide)
	}, nil
}
