package main

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/build"
)

func TestHasDisplay(t *testing.T) {
	for _, c := range []struct {
		system string
		env    map[string]string
		want   bool
	}{
		{"linux", nil, false},
		{"linux", map[string]string{"DISPLAY": ":0"}, true},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, true},
		{"linux", map[string]string{"SSH_CONNECTION": "a", "WAYLAND_DISPLAY": "wayland-0"}, false},
		{"linux", map[string]string{"SSH_CONNECTION": "a", "DISPLAY": "localhost:10.0"}, true},
		{"darwin", nil, true},
		{"darwin", map[string]string{"SSH_CONNECTION": "a"}, false},
	} {
		if got := hasDisplay(c.system, func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s, %v: %v", c.system, c.env, got)
		}
	}
}

// TestOpens: the flag decides, and without it the presence of a user at a display.
func TestOpens(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	t.Setenv("SSH_CONNECTION", "")
	for _, c := range []struct {
		args     []string
		terminal bool
		want     bool
	}{
		{nil, true, true},
		{nil, false, false},
		{[]string{"--open"}, false, true},
		{[]string{"--open=false"}, true, false},
		{[]string{"--serve"}, true, false}, // the page is open already
	} {
		x := &call{s: &streams{outTerm: c.terminal, errTerm: c.terminal}, row: rowOf("run"), cmd: &cobra.Command{}}
		x.define(flagOpen)
		l := launchOf(x, build.Run)
		x.flags().BoolVar(&l.serve, "serve", false, "")
		if err := x.flags().Parse(c.args); err != nil {
			t.Fatal(err)
		}
		if got := l.opens(); got != c.want {
			t.Errorf("%q, terminal %v: %v", c.args, c.terminal, got)
		}
	}
}
