package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/bulk"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

// TestPackFullDisk: on a full disk no file is left, and the trace is unchanged.
func TestPackFullDisk(t *testing.T) {
	data := shapedTrace(t, bulk.Irregular, 50_000)
	dir := faultfs.Tmpfs(t, 128<<10).Dir
	packed := filepath.Join(dir, "x.scopez")
	if r := scopeview("pack", "x.scope", "-o", packed); r.code != exitFailed || !strings.Contains(r.err, packed+" was not written") || !strings.Contains(r.err, "no space left") {
		t.Errorf("%v", r)
	}
	files(t, dir)
	if r := scopeview("pack", "x.scope"); r.code != exitOK {
		t.Fatal(r)
	}
	if r := scopeview("unpack", "x.scopez", "-o", filepath.Join(dir, "x.scope")); r.code != exitFailed || !strings.Contains(r.err, "no space left") {
		t.Errorf("%v", r)
	}
	files(t, dir)
	if b, err := os.ReadFile("x.scope"); err != nil || !bytes.Equal(b, data) {
		t.Errorf("the trace was changed; %v", err)
	}
}
