package release

import "testing"

// TestOf: the tool and its companion must agree, so a version is the same each time, and known.
func TestOf(t *testing.T) {
	if v := Of(); v == "" || v == "(devel)" || v != Of() {
		t.Errorf("the version is %q", v)
	}
}
