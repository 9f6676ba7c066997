//go:build !linux && !scope_off

package scope

import (
	"errors"

	"github.com/scopeview/scopeview/mmpool"
)

func (r *recorder) createHot(po *mmpool.Options) error { return errors.ErrUnsupported }
