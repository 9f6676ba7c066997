package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/release"
)

// TestCompanion: the companion runs with the arguments and its exit code is returned; if it is
// missing, or of another version, the error has the command that installs it.
func TestCompanion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the companion is a shell script here")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if r := scopeview("sql", "--list"); r.code != exitFailed || !strings.Contains(r.err, "scopeview-fleet is neither beside scopeview nor in PATH: make fleet ") {
		t.Errorf("%v", r)
	}
	if r := scopeview("sql", "--help"); r.code != exitOK || !strings.Contains(r.out, "lock-holders") {
		t.Errorf("%v", r)
	}
	if r := scopeview("__complete", "sql", "lock"); !strings.Contains(r.out, "lock-holders\n") {
		t.Errorf("%v", r)
	}
	put := func(version string) {
		script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo " + version + "; exit; fi\necho \"$@\"\nexit 2\n"
		if err := os.WriteFile(filepath.Join(dir, companion), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("v0.1.0")
	if r := scopeview("export", "parquet", "x"); r.code != exitFailed || !strings.Contains(r.err, "has version v0.1.0, scopeview ") {
		t.Errorf("%v", r)
	}
	put(release.Of())
	if r := scopeview("export", "parquet", "x.scope", "-o", "s3://a/b", "--help"); r.code != exitUsage || r.out != "parquet x.scope -o s3://a/b --help\n" || r.err != "" {
		t.Errorf("%v", r)
	}
}
