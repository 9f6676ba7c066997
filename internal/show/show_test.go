package show

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 19: "19ns", 999: "999ns", 1000: "1.00µs", 1234: "1.23µs", 9994: "9.99µs", 9996: "10.0µs", 12_345: "12.3µs",
		99_960: "100µs", 123_456: "123µs", 999_499: "999µs", 999_500: "1.00ms", 45_600_000: "45.6ms", 1e9: "1.00s", 59.96e9: "60.0s",
		599e9: "599s", 600e9: "10m00s", 754e9: "12m34s", 35_999e9: "599m59s", 36_000e9: "10h00m", 90_061e9: "25h01m", -1500: "-1.50µs",
		1<<63 - 1: "2562047h47m", -1 << 63: "-1281023h54m",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %s, want %s", ns, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "0.98 KiB", 1 << 20: "1.00 MiB", 123 << 20: "123 MiB", 3 << 30: "3.00 GiB", 1 << 50: "1024 TiB"} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[float64]string{1234.6: "1,235", -0.4: "0", 2e15: "2,000,000,000,000,000"} {
		if got := Count(n); got != want {
			t.Errorf("Count(%v) = %s, want %s", n, got, want)
		}
	}
	if got := Count(uint64(1<<64 - 1)); got != "18,446,744,073,709,551,615" {
		t.Errorf("the largest number is %s", got)
	}
	if got := Duration(1499.6) + Size(2047.6) + Duration(0.4); got != "1.50µs2.00 KiB0ns" {
		t.Errorf("estimates are %s", got)
	}
	if got := Either(1, "entry", "entries") + Either(2000.0, "entry", "entries") + Plural(1, "map") + Plural(0, "map"); got != "1 entry2,000 entries1 map0 maps" {
		t.Error(got)
	}
	if got := Between(3, 3) + ", " + Between(3, 4000); got != "3, 3 to 4,000" {
		t.Error(got)
	}
	for share, want := range map[float64]string{0.053: "+5.3%", -0.494: "-49.4%", 0: "0.0%", -0.0001: "0.0%", 0.0001: "0.0%", math.Copysign(0, -1): "0.0%"} {
		if got := Change(share); got != want {
			t.Errorf("Change(%v) = %s, want %s", share, got, want)
		}
	}
	for ratio, want := range map[float64]string{1.5: "+50%", 0.5: "-50%", 2: "+100%", 9.99: "+899%", 12.34: "×12.3", 0.001: "-99.9%", 1.0001: "+<0.1%", math.MaxFloat64: "×1.8e+308"} {
		if got := Growth(ratio); got != want {
			t.Errorf("Growth(%v) = %s, want %s", ratio, got, want)
		}
	}
}

// TestSharedNumbers: the page's tests read the same examples.
func TestSharedNumbers(t *testing.T) {
	var examples map[string][][2]any
	b, err := os.ReadFile("testdata/numbers.json")
	if err == nil {
		err = json.Unmarshal(b, &examples)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(float64) string{"percent": Percent[float64], "count": func(n float64) string { return Count(int64(n)) }} {
		if len(examples[name]) < 8 {
			t.Errorf("%d examples of %s", len(examples[name]), name)
		}
		for _, x := range examples[name] {
			if got := f(x[0].(float64)); got != x[1] {
				t.Errorf("%s of %v: %s, want %s", name, x[0], got, x[1])
			}
		}
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"f1": "f1", "store.mu": "store.mu", "naïve 世": "naïve 世", "a b": "a b",
		"": `""`, " a": `" a"`, "a ": `"a "`, `"a"`: `"\"a\""`,
		"a\x1b[31mb": `"a\x1b[31mb"`, "a\nb": `"a\nb"`, "a\tb": `"a\tb"`, "\xff": `"\xff"`, "\u202eabc": `"\u202eabc"`, "\u0085": `"\u0085"`, "\x7f": `"\x7f"`,
	} {
		if got := Name(name); got != want {
			t.Errorf("Name(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "two\nlines": "two\nlines", "a\x1bb": `a\x1bb`, "say \"x\" \x07\nand\tmore": "say \"x\" \\a\nand\tmore",
	} {
		if got := Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}
