package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/shmtest"
)

func TestMain(m *testing.M) { os.Exit(shmtest.Run(m.Run)) }

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"-h", 0, "-trace"}, {"-n 0", 2, "-n is at least 1"}, {"more", 2, "flags only"}, {"-nonsense", 2, "-nonsense"},
		{"-n 2", 0, "2 times, checksum "},
	} {
		var out bytes.Buffer
		if code := run(strings.Fields(c.args), &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit %d, want %d with %q: %s", c.args, code, c.code, c.want, &out)
		}
	}
}

func TestTotals(t *testing.T) {
	all := totals{}
	if err := all.add(&text{[]byte("/a 200 1000 7 curl\n/b 503 20 9 Mozilla (X11)\n/a 500 1 1 curl\n/c 200 0 0")}); err == nil || err.Error() != `"/c" lacks a number` {
		t.Errorf("got %v", err)
	}
	var b bytes.Buffer
	all.print(&b)
	if want := "/a: 2 requests, 1 failed, 1001 bytes, 8 µs\n/b: 1 requests, 1 failed, 20 bytes, 9 µs\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", &b, want)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		line, behind string
		n            int64
		ok           bool
	}{
		{"12 rest of it", "rest of it", 12, true}, {"0 ", "", 0, true}, {"922337203685477580 ", "", 922337203685477580, true},
		{"9223372036854775807 ", "", 0, false}, {" 1", "", 0, false}, {"", "", 0, false}, {"12", "", 0, false}, {"1x ", "", 0, false}, {"-1 ", "", 0, false},
	} {
		if n, behind, ok := number([]byte(c.line)); n != c.n || string(behind) != c.behind || ok != c.ok {
			t.Errorf("%q: %d, %q, %v", c.line, n, behind, ok)
		}
	}
}
