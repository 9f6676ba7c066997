package sys

import "testing"

func TestParseMap(t *testing.T) {
	for _, c := range []struct {
		line string
		want mapping
	}{
		{"00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/x\n", mapping{Span{0x400000, 0x452000}, "r-xp", "/usr/bin/x"}},
		{"7f01-7f02 r--p 0 08:02 5 /a file (deleted)", mapping{Span{0x7f01, 0x7f02}, "r--p", "/a"}},
		{"c000000000-c000400000 rw-p 00000000 00:00 0", mapping{}},
		{"7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0 [stack]", mapping{}},
		{"", mapping{}},
		{"garbage", mapping{}},
		{"1-2 r--p 0 0:0 7 ", mapping{}},
		{"zz-2 r--p 0 0:0 7 /x", mapping{}},
	} {
		if got := parseMap(c.line); got != c.want {
			t.Errorf("%q is %+v, want %+v", c.line, got, c.want)
		}
	}
}
