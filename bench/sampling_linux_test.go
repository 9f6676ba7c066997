package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTurns: each program has each slice of each round, and what one computes otherwise than the
// others is an error.
func TestTurns(t *testing.T) {
	program := func(cpu, result int) func(in, out *os.File) error {
		return func(in, out *os.File) error {
			for lines := bufio.NewScanner(in); lines.Scan(); {
				fmt.Fprintln(out, cpu, result)
			}
			return nil
		}
	}
	b := &bench{rounds: 2, short: true}
	for _, c := range []struct {
		second int
		want   string
	}{{7, ""}, {8, "what is computed is"}} {
		list, err := startTakers(program(10, 7), program(20, c.second))
		if err != nil {
			t.Fatal(err)
		}
		spent, err := b.turns(list, 20)
		if c.want == "" && (err != nil || fmt.Sprint(spent) != "[[200 400] [200 400]]" || list[1].cpu != 800) {
			t.Errorf("%v, %v", spent, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %s", err, c.want)
		}
		for _, x := range list {
			if err := x.end(); err != nil {
				t.Error(err)
			}
		}
	}
	if tooFew(80, 100) != "" || tooFew(79, 100) == "" {
		t.Error("four fifths of the samples are enough, and no less")
	}
}
