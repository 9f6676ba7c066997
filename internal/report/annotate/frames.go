package annotate

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
)

// Frames returns a function that finds, in the executable, the functions that contain a frame's
// address, innermost first, with the linker's names and their first lines.
func (c *Code) Frames(p *samples.Profile) (func(f *symbols.Frame) []symbols.Frame, error) {
	if c.Binary == nil {
		return nil, fmt.Errorf("the first lines of functions are not known: %s", c.Why)
	}
	slide, ok := c.slide(p)
	if !ok {
		return nil, fmt.Errorf("the first lines of functions are not known: %s", noSlide(p))
	}
	return func(f *symbols.Frame) []symbols.Frame {
		if f.PC == 0 || f.Object != c.object {
			return nil
		}
		return c.Binary.Frames(f.PC - slide)
	}, nil
}
