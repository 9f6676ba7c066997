package release

import "testing"

// TestOf: the version is known and constant, because the tool and its companion must agree.
func TestOf(t *testing.T) {
	if v := Of(); v == "" || v == "(devel)" || v != Of() {
		t.Errorf("the version is %q", v)
	}
}
