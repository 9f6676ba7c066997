package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/testing/bulk"
)

// TestPackFullDisk: on a full disk no file is left, and the trace is unchanged.
func TestPackFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	data := shapedTrace(t, bulk.Irregular, 50_000)
	dir, err := filepath.Abs("small")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=128k"); err != nil {
		t.Skipf("a small file system can't be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	if r := scopeview("pack", "x.scope", "-o", "small/x.scopez"); r.code != exitFailed || !strings.Contains(r.err, "small/x.scopez was not written") || !strings.Contains(r.err, "no space left") {
		t.Errorf("%v", r)
	}
	files(t, dir)
	if r := scopeview("pack", "x.scope"); r.code != exitOK {
		t.Fatal(r)
	}
	if r := scopeview("unpack", "x.scopez", "-o", "small/x.scope"); r.code != exitFailed || !strings.Contains(r.err, "no space left") {
		t.Errorf("%v", r)
	}
	files(t, dir)
	if b, err := os.ReadFile("x.scope"); err != nil || !bytes.Equal(b, data) {
		t.Errorf("the trace was changed; %v", err)
	}
}
