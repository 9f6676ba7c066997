package sys

import (
	"reflect"
	"testing"
)

func TestTypes(t *testing.T) {
	type pair struct{ a, b int }
	for _, c := range []struct {
		v    any
		kind reflect.Kind
		elem string
	}{
		{(*int)(nil), reflect.Pointer, "int"},
		{(*pair)(nil), reflect.Pointer, "sys.pair"},
		{[]string{}, reflect.Slice, "string"},
		{pair{}, reflect.Struct, ""},
		{1.5, reflect.Float64, ""},
		{map[int]int{}, reflect.Map, ""},
	} {
		typ := TypeOf(c.v)
		if got := TypeKind(typ); got != c.kind {
			t.Errorf("%T: kind %v, want %v", c.v, got, c.kind)
		}
		if c.elem == "" {
			continue
		}
		if got := TypeName(ElemType(typ)); got != c.elem {
			t.Errorf("%T: of %s, want %s", c.v, got, c.elem)
		}
	}
}
