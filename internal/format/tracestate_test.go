package format

import (
	"fmt"
	"strings"
	"testing"
)

// members returns tracestate members from..to.
func members(from, to int) string {
	var all []string
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf("bar%02d=%02d", i, i))
	}
	return strings.Join(all, ",")
}

// TestParseTracestate has the cases of W3C's own suite, and the limits of the grammar.
func TestParseTracestate(t *testing.T) {
	const keyChars, system = "abcdefghijklmnopqrstuvwxyz0123456789_-*/", "a-z0-9_-*/"
	var value strings.Builder
	for c := ' '; c <= '~'; c++ {
		if c != ',' && c != '=' {
			value.WriteRune(c)
		}
	}
	for _, test := range []struct {
		about   string
		headers []string
		want    string
	}{
		{"none", nil, ""},
		{"one member", []string{"foo=1"}, "foo=1"},
		{"two members", []string{"foo=1,bar=2"}, "foo=1,bar=2"},
		{"several headers", []string{"foo=1,bar=2", "rojo=1,congo=2", "baz=3"}, "foo=1,bar=2,rojo=1,congo=2,baz=3"},
		{"an empty header", []string{""}, ""},
		{"an empty header behind", []string{"foo=1", ""}, "foo=1"},
		{"an empty header before", []string{"", "foo=1"}, "foo=1"},
		{"empty members", []string{",foo=1,,bar=2,"}, "foo=1,bar=2"},
		{"white space", []string{"foo=1 \t , \t bar=2, \t baz=3"}, "foo=1,bar=2,baz=3"},
		{"tabs", []string{"foo=1\t \t,\t \tbar=2,\t \tbaz=3"}, "foo=1,bar=2,baz=3"},
		{"white space around", []string{"\t foo=1 \t"}, "foo=1"},
		{"all characters", []string{keyChars + "=" + value.String()}, keyChars + "=" + value.String()},
		{"all characters of a tenant", []string{keyChars + "@" + system + "=" + value.String()}, keyChars + "@" + system + "=" + value.String()},
		{"a value that begins with spaces", []string{"foo=  1"}, "foo=  1"},
		{"a digit first", []string{"1a=1"}, "1a=1"}, // since level 2
		{"a digit first in a tenant", []string{"1@a=1"}, "1@a=1"},
		{"32 members", []string{members(1, 10), members(11, 20), members(21, 32)}, members(1, 32)},
		{"33 members", []string{members(1, 10), members(11, 20), members(21, 33)}, ""},
		{"32 members and empty ones", []string{members(1, 32) + ",,"}, members(1, 32)},
		{"the longest key", []string{"foo=1", strings.Repeat("z", 256) + "=1"}, "foo=1," + strings.Repeat("z", 256) + "=1"},
		{"a longer key", []string{"foo=1", strings.Repeat("z", 257) + "=1"}, ""},
		{"the longest tenant", []string{strings.Repeat("t", 241) + "@" + strings.Repeat("v", 14) + "=1"}, strings.Repeat("t", 241) + "@" + strings.Repeat("v", 14) + "=1"},
		{"a longer tenant", []string{"foo=1", strings.Repeat("t", 242) + "@v=1"}, ""},
		{"a longer system", []string{"foo=1", "t@" + strings.Repeat("v", 15) + "=1"}, ""},
		{"the longest value", []string{"foo=" + strings.Repeat("v", 256)}, "foo=" + strings.Repeat("v", 256)},
		{"a longer value", []string{"foo=" + strings.Repeat("v", 257)}, ""},
		{"a key twice", []string{"foo=1,foo=1"}, ""},
		{"a key with two values", []string{"foo=1,foo=2"}, ""},
		{"a key in two headers", []string{"foo=1", "foo=2"}, ""},
		{"a key that another begins with", []string{"foo=1,foobar=2,fo=3"}, "foo=1,foobar=2,fo=3"},
		{"a space in a key", []string{"foo =1"}, ""},
		{"upper case", []string{"FOO=1"}, ""},
		{"a dot", []string{"foo.bar=1"}, ""},
		{"no system", []string{"foo@=1,bar=2"}, ""},
		{"no tenant", []string{"@foo=1,bar=2"}, ""},
		{"two ats in a row", []string{"foo@@bar=1,bar=2"}, ""},
		{"two ats", []string{"foo@bar@baz=1,bar=2"}, ""},
		{"a system that begins with a digit", []string{"foo@1=1"}, ""},
		{"a key that begins with a hyphen", []string{"-foo=1"}, ""},
		{"two equal signs", []string{"foo=bar=baz"}, ""},
		{"no value", []string{"foo=,bar=3"}, ""},
		{"no key", []string{"=1"}, ""},
		{"no equal sign", []string{"foo"}, ""},
		{"a control character", []string{"foo=a\x00b"}, ""},
		{"not ASCII", []string{"foo=é"}, ""},
		{"the last of several", []string{"foo=1,bar"}, ""},
	} {
		if got := ParseTracestate(test.headers); got != test.want {
			t.Errorf("%s: %q became %q, want %q", test.about, test.headers, got, test.want)
		}
	}
}

func FuzzParseTracestate(f *testing.F) {
	f.Add("foo=1 , bar@x=2", "a=b")
	f.Fuzz(func(t *testing.T, a, b string) {
		got := ParseTracestate([]string{a, b})
		if again := ParseTracestate([]string{got}); again != got {
			t.Errorf("%q and %q became %q, and that %q", a, b, got, again)
		}
		if strings.ContainsAny(got, "\t\r\n\x00") || len(got) > maxMembers*(maxKey+maxValue+2) {
			t.Errorf("%q and %q became %q", a, b, got)
		}
	})
}
