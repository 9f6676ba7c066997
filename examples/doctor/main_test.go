package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestTwinsDoTheSame: how strong the problem is, and whether it is mended, changes how
// the work is done and not what comes out.
func TestTwinsDoTheSame(t *testing.T) {
	at := []string{"1", "0"}
	if testing.Short() {
		at = at[:1]
	}
	all := slices.Clone(programs)
	for _, s := range shapes {
		all = append(all, s.program)
	}
	for i, p := range all {
		t.Run(p.name, func(t *testing.T) {
			if i >= len(programs) {
				at = []string{"0.6"}
			}
			for _, strength := range at {
				mended := checksum(t, "-size", "0.01", "-strength", strength, "-mended", p.name)
				if got := checksum(t, "-size", "0.01", "-strength", strength, p.name); got != mended {
					t.Errorf("strength %s: checksum %s, and %s when mended", strength, got, mended)
				}
			}
		})
	}
}

func checksum(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(args, &out, &errs); code != 0 {
		t.Fatalf("doctor %s: exit code %d, %s", args, code, &errs)
	}
	_, sum, ok := strings.Cut(out.String(), "checksum ")
	if !ok || sum == "0000000000000000\n" {
		t.Fatalf("doctor %s printed %q", args, &out)
	}
	return sum
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"-h", 0, "oversubscription"},
		{"", 2, "name one program"},
		{"gc channel", 2, "name one program"},
		{"-strength 2 gc", 2, "-strength is from 0 to 1"},
		{"-strength NaN gc", 2, "-strength is from 0 to 1"},
		{"-size 0 gc", 2, "-size above 0"},
		{"-nonsense gc", 2, "-nonsense"},
		{"quack", 2, `there is no program "quack"`},
	} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(c.args), &out, &errs); code != c.code || !strings.Contains(errs.String(), c.says) {
			t.Errorf("doctor %s: exit code %d, %q; want %d and %q", c.args, code, &errs, c.code, c.says)
		}
	}
}
