package fromenv

import "testing"

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]int64{"1048576": 1 << 20, "512M": 512 << 20, "4g": 4 << 30, "2048k": 2 << 20} {
		if got, err := parseBytes(s); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"x", "M", "-1", "0", "1.5G", "9223372036854775807G"} {
		if got, err := parseBytes(s); err == nil {
			t.Errorf("%q is %d, want an error", s, got)
		}
	}
}
