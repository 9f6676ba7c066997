//go:build !scope_off

package scopehttp

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/hot"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/recordtest"
	"github.com/scopeview/scopeview/scope"
)

// TestDownloadHot downloads the last recording when Stop could not write it to its
// file: the contents of the hot file are included.
func TestDownloadHot(t *testing.T) {
	s := mount(t)
	end := recordtest.Begin(t, s.dir)
	scope.Task("a")()
	end()
	b := filetest.Read(t, scope.Path())
	h, _, err := format.DecodeHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	if h.Backing != format.BackingShm {
		t.Skip("the backing is ", h.Backing)
	}
	clear(b[format.StateOffset+format.StateClosed:][:8])
	filetest.Write(t, scope.Path(), b[:format.ControlOffset])
	slots := len(b) / format.ChunkSize
	left := make([]byte, format.HotSize(slots))
	head, err := format.AppendHotHeader(nil, &format.HotHeader{Slots: uint32(slots), ID: h.ID, Path: scope.Path()})
	if err != nil {
		t.Fatal(err)
	}
	copy(left, head)
	copy(left[format.HotSlot(slots, 0):], b)
	for i := range slots {
		binary.LittleEndian.PutUint64(left[format.HotTableOffset+8*i:], uint64(i)+1)
	}
	filetest.Write(t, filepath.Join(hot.Dir, format.HotName(h.ID)), left)
	path, _ := s.fetch()
	if got := names(t, path); got != "a" {
		t.Errorf("the download has %q", got)
	}
	if list := s.left(); len(list) != 1 {
		t.Errorf("left %q", list)
	}
}
