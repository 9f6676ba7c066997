package membench

import (
	"testing"

	"github.com/scopeview/scopeview/internal/report"
)

func TestText(t *testing.T) {
	r := &Result{CPU: "EPYC", Cores: 2, Cache: 32 << 20, Arrays: 256 << 20, Points: []point{{Cores: 1, Copy: 2e10, Triad: 1e10, Compute: 1e9}, {Cores: 2, Copy: 2e10, Triad: 1.1e10, Compute: 2e9}}, Saturated: 1}
	var b report.Text
	r.text(&b)
	want := `EPYC, 2 cores, last-level cache 32.0 MiB; arrays of 256 MiB

cores        copy     a=b+s·c  inflation: memory  compute
    1  18.6 GiB/s  9.31 GiB/s               1.00     1.00
    2  18.6 GiB/s  10.2 GiB/s               2.00     1.00

memory is saturated by 1 core: more of them move less than a tenth more
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
