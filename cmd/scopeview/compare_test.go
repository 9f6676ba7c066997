package main

import (
	"context"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/report/compare"
)

// TestComparedColumns: each column of each view can be in a condition, and the help names it.
func TestComparedColumns(t *testing.T) {
	help := call("compare", "--help").out
	for _, v := range compared {
		columns := compare.Columns(v.view)
		if !strings.Contains(help, "  "+v.name+" ") || !strings.Contains(help, strings.Join(columns, " ")) {
			t.Errorf("the help lacks %s with %q", v.name, columns)
		}
		for _, c := range columns {
			for _, sign := range []string{"+", "-"} {
				if _, err := compare.ParseCondition("store.get."+c+sign+"10%", v.view); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestCompareInterrupted: who asks for no more gets no output.
func TestCompareInterrupted(t *testing.T) {
	scriptTrace(t, "compare")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := callOn(ctx, false, "compare", "old.scope", "new.scope"); r.code != exitFailed || !strings.Contains(r.err, "interrupted") || r.out != "" {
		t.Errorf("%v", r)
	}
}
