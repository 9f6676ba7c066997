//go:build linux && !scope_off && !scope_pure && !race

package record_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// TestG32 records to a file system that claims to be remote. Its file is not mapped
// unless the program asks for that; if only the heap is left to copy from, the trace
// records why.
func TestG32(t *testing.T) {
	defer func(was func(*os.File) (string, bool), dir string) { *record.Remote, hot.Dir = was, dir }(*record.Remote, hot.Dir)
	near := func(*os.File) (string, bool) { return "", false }
	nfs := func(*os.File) (string, bool) { return "NFS", true }
	memory, none := hot.Dir, t.TempDir()
	n := 0
	for _, c := range []struct {
		what   string
		remote func(*os.File) (string, bool)
		hotDir string
		opts   []Option
		want   []format.Backing
		reason string
	}{
		{"local, no memory", near, none, nil, []format.Backing{format.BackingDisk}, none},
		{"remote", nfs, memory, nil, []format.Backing{format.BackingShm, format.BackingHeap}, ""},
		{"remote, no memory", nfs, none, nil, []format.Backing{format.BackingHeap}, "NFS"},
		{"remote, disk asked for", nfs, memory, []Option{WithBacking(DiskBacking)}, []format.Backing{format.BackingDisk}, ""},
		{"remote, heap asked for", nfs, memory, []Option{WithBacking(HeapBacking)}, []format.Backing{format.BackingHeap}, ""},
	} {
		*record.Remote, hot.Dir = c.remote, c.hotDir
		start(t, c.opts...)
		Task("a")()
		r := stop(t)
		got, reason := r.Header().Backing, r.Lookup("backing_reason")
		if !slices.Contains(c.want, got) || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: the backing is %v (%q), want %v because of %q", c.what, got, reason, c.want, c.reason)
		}
		n++
	}
	t.Logf("G32: %d recordings: a remote file is mapped only if the program asks for it", n)
}
