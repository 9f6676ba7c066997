package perf

import (
	"fmt"
	"strings"
	"testing"
)

func TestFindCounter(t *testing.T) {
	for _, test := range []struct {
		c   Counter
		err string
	}{
		{Counter{"task-clock", 50_000}, ""}, {Counter{"page-faults", 1}, ""}, {Counter{"branch-misses", 1 << 40}, ""},
		{Counter{"page-faults", 0}, "the interval 0 is invalid"},
		{Counter{"cycles", 1 << 63}, "the interval 9223372036854775808 is invalid"},
		{Counter{"task-clock", 49_999}, "an interval of 49999 ns is too short; the minimum is 50000"},
		{Counter{"faults", 1}, "unknown counter; known are task-clock, page-faults, minor-faults, major-faults, context-switches, cpu-migrations, cycles, instructions, cache-references, cache-misses, branches, branch-misses"},
	} {
		_, err := test.c.find()
		if got := fmt.Sprint(err); got != test.err && !(err == nil && test.err == "") {
			t.Errorf("%v: %s", test.c, got)
		}
	}
}

func TestParseCounter(t *testing.T) {
	for text, want := range map[string]string{
		"task-clock": "{task-clock 10000000}", "task-clock:1ms": "{task-clock 1000000}", "page-faults": "{page-faults 1}", "cycles": "{cycles 1000000}",
		"page-faults:100": "{page-faults 100}", "nothing": "\"nothing\": unknown counter", "task-clock:5": "the interval follows the colon", "cycles:0": "the interval 0 is invalid", "task-clock:1us": "the minimum is 50000",
	} {
		c, err := ParseCounter(text)
		if got := fmt.Sprint(c); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
