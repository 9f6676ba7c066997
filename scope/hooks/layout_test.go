//go:build !scope_off

package hooks

import (
	"reflect"
	"testing"

	"github.com/scopeview/scopeview/internal/sys"
)

// TestLayout: Func and sys.Func have the same layout.
func TestLayout(t *testing.T) {
	ours, theirs := reflect.TypeFor[Func](), reflect.TypeFor[sys.Func]()
	if ours.Size() != theirs.Size() || ours.Field(0).Type != theirs.Field(0).Type || ours.Field(1).Type != theirs.Field(1).Type || ours.Field(1).Offset != theirs.Field(1).Offset {
		t.Errorf("%v is not laid out as %v", ours, theirs)
	}
}
