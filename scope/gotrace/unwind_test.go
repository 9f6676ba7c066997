//go:build !scope_off

package gotrace

import (
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/collect"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/scope"
)

// TestG41Unchecked: without the check of frame pointers in a rewritten build neither a trace is
// taken, nor a profile, whose samples the trace would hold; a heartbeat does not take them either.
// With Go's setting they are taken.
func TestG41Unchecked(t *testing.T) {
	if clobbering[runtime.GOARCH] == nil {
		t.Skip("Go's tracer follows no frame pointers here")
	}
	was := collect.Unwinding.Load()
	defer collect.Unwinding.Store(was)
	collect.SetUnwinding("not tested with go1.99")
	wasSet := godebug
	defer func() { godebug = wasSet }()
	for set, fact := range map[string]string{"": "off: Go's tracer follows frame pointers without a check, for the hook unwind is not in: not tested with go1.99; ", setting + "=1": "on"} {
		godebug = set
		for name, opts := range map[string][]scope.Option{"whole": nil, "ring": {scope.WithRing(scope.MinRing)}} {
			path := filepath.Join(t.TempDir(), "x.scope")
			end := recordtest.Begin(t, path, append(opts, With())...)
			shared.mu.Lock()
			c := shared.running
			shared.mu.Unlock()
			c.Beat()
			taken := trace.IsEnabled()
			end()
			tr := tracetest.OpenFile(t, path)
			if got := tr.Lookup(factTrace); !strings.HasPrefix(got, fact) || taken != (set != "") {
				t.Errorf("%s, GODEBUG=%q: gotrace is %q, Go's tracer runs: %v", name, set, got, taken)
			}
			if got := tr.Lookup(factProfile); strings.HasPrefix(got, "on") != (set != "") {
				t.Errorf("%s, GODEBUG=%q: gotrace_profile is %q", name, set, got)
			}
		}
	}
}

// TestClobberer: clobberer finds a known module among those that a program was built from, and no
// other.
func TestClobberer(t *testing.T) {
	for _, c := range []struct{ arch, main, dep, want string }{
		{"amd64", "example.com/x", "github.com/dgraph-io/ristretto/v2", "github.com/dgraph-io/ristretto/v2"},
		{"amd64", "example.com/x", "github.com/dgraph-io/ristretto", "github.com/dgraph-io/ristretto"},
		{"amd64", "example.com/x", "github.com/dgraph-io/ristretto2", ""},
		{"amd64", "example.com/x", "github.com/cloudflare/circl", ""},
		{"arm64", "example.com/x", "github.com/cloudflare/circl", "github.com/cloudflare/circl"},
		{"arm64", "example.com/x", "github.com/minio/md5-simd", ""},
		{"amd64", "github.com/apache/arrow/go/v17", "example.com/x", "github.com/apache/arrow/go/v17"},
		{"riscv64", "example.com/x", "github.com/minio/md5-simd", ""},
	} {
		b := &debug.BuildInfo{Main: debug.Module{Path: c.main}, Deps: []*debug.Module{{Path: "example.com/y"}, {Path: c.dep}}}
		if got := clobbererOf(b, c.arch); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
		b.Settings = []debug.BuildSetting{{Key: "-ldflags", Value: "-s -X=runtime.godebugDefault=" + setting + "=1"}}
		if got := clobbererOf(b, c.arch); got != "" {
			t.Errorf("%+v, with the linker's default: %q", c, got)
		}
	}
	const metro = "github.com/dgryski/go-metro"
	for version, want := range map[string]string{"v0.0.0-20211217172704-adc40b04c140": metro, "": metro, "v0.0.0-20250106013310-edb8663e5e33": "", "v1.0.0": ""} {
		dep := &debug.Module{Path: metro, Version: version}
		for _, dep := range []*debug.Module{dep, {Path: metro, Version: "v0.0.0-2021", Replace: dep}} {
			if got := clobbererOf(&debug.BuildInfo{Deps: []*debug.Module{dep}}, "amd64"); got != want {
				t.Errorf("%+v: %q", dep, got)
			}
		}
	}
	for set, want := range map[string]bool{
		"": false, setting + "=1": true, setting + "=0": false, "gctrace=1," + setting + "=1": true,
		setting + "=1," + setting + "=0": false, setting + "=1," + setting + "=x": true, "x" + setting + "=1": false,
	} {
		if setsTables(set) != want {
			t.Errorf("GODEBUG=%s: %v", set, !want)
		}
	}
}
