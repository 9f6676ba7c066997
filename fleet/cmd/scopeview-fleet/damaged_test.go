package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

// TestDamaged: the readable part of a damaged trace is exported, and the damage is reported
// as an error; losses are reported, and are an error with --strict. For a complete trace
// nothing is printed.
func TestDamaged(t *testing.T) {
	const body = "state closed=1 tick=9000 end=12288\nchunk blocks\nname 2 \"f\"\n%sstop ticks=9000\nchunk records\ntask \"f\" g=1 start=2000 stop=3000 cpu=0/unknown\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"whole": "header pid=1\n" + strings.Replace(body, "%s", "", 1),
		"lossy": "header pid=2\n" + strings.Replace(body, "%s", "gap from=2000 to=3000 count=5 reason=window\n", 1),
		"cut":   "header pid=3\n" + strings.Replace(body, "%s", "", 1) + "truncate 8288\n",
	} {
		tracetest.Write(t, filepath.Join(dir, name+".scope"), text)
	}
	for _, c := range []struct {
		args, says, wrong string
		lossy             bool
	}{
		{"whole.scope --strict", "", "", false},
		{"lossy.scope", "5 records were lost", "", false},
		{"lossy.scope --strict", "5 records were lost", "traces that lack something: 1 of 1", true},
		{"cut.scope", "the file is cut off", "damaged traces: 1 of 1", false},
		{".", "the file is cut off", "damaged traces: 1 of 3", false},
	} {
		args := strings.Fields(c.args)
		args[0] = filepath.Join(dir, args[0])
		out, errs, err := call(t, append([]string{"parquet", "-o", t.TempDir()}, args...)...)
		if c.says == "" && errs != "" || !strings.Contains(errs, c.says) || !strings.Contains(out, " rows\n") {
			t.Errorf("%s: %q, and on standard error %q, want %q", c.args, out, errs, c.says)
		}
		var lossy *lossError
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || errors.As(err, &lossy) != c.lossy {
			t.Errorf("%s: %v, want %q", c.args, err, c.wrong)
		}
	}
}
