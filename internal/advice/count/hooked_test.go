package count

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestFromEnv: the environment sets the destination, and a .conf file and variables the
// parameters.
func TestFromEnv(t *testing.T) {
	root := filepath.Join(t.TempDir(), "profile")
	for _, c := range []struct {
		path, conf, share string
		trace             string
		err               string
		want              params
		raw               string
	}{
		{path: ""},
		{path: root, want: params{Depth: Depth, Memory: 128 << 20, Share: 0.05}, raw: root + ".raw"},
		{path: root, conf: "# changed\ndepth = 3\nmemory=65536\nleast_ns = 1\n", share: "1", want: params{Depth: 3, Memory: 65536, Share: 1}, raw: root + ".raw"},
		{path: root + "/", trace: "/traces/x.scope", want: params{Depth: Depth, Memory: 128 << 20, Share: 0.05}, raw: filepath.Join(root, "x.raw")},
		{path: root, conf: "depth = 33\n", err: "profile.conf: 33: give the number of frames"},
		{path: root, share: "0", err: "SCOPEVIEW_ADVISE_SHARE: 0: give the share"},
		{path: root, conf: "memory = 1\n", err: "give the memory in bytes"},
	} {
		t.Setenv(Variable, c.path)
		t.Setenv(Variable+"_SHARE", c.share)
		filetest.Write(t, root+".conf", []byte(c.conf))
		err := FromEnv(c.trace, nil)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if (current == nil) != (c.path == "") {
			t.Errorf("%+v: it counts: %v", c, current != nil)
		}
		if current != nil {
			if got := current.params; got.Path != c.raw || got.Depth != c.want.Depth || got.Memory != c.want.Memory || got.Share != c.want.Share {
				t.Errorf("%+v: the parameters are %+v", c, got)
			}
		}
		if err := Stop(); err != nil {
			t.Error(err)
		}
		reset()
	}
}

// TestGiven: the values passed by the hooks are used: the words that enable reports, and the
// functions that pin a goroutine to its thread.
func TestGiven(t *testing.T) {
	defer func(f []*uint32, m *uint32, p, u func()) { flags, mask, pin, unpin = f, m, p, u }(flags, mask, pin, unpin)
	defer reset()
	var rates [Rates]uint8
	var skipped [1 << 16]uint8
	var flag, of uint32
	pins := 0
	was, bits := followed, [1 << 13]uint64{}
	defer func(t []*func(uint32, *[8]uintptr, []uintptr)) { followed, reportHooks = was, t }(reportHooks)
	var reportTo func(what uint32, a *[8]uintptr, pcs []uintptr)
	ReportTo(&reportTo)
	Followed(&bits)
	defer func(c *[8]uintptr) { control = c }(control)
	var words [8]uintptr
	Accesses(&words)
	if control != &words {
		t.Error("what is done with loads and stores is not kept")
	}
	control = nil
	Thinned(&rates)
	Skipped(&skipped)
	Watching(&flag)
	OneOf(&of)
	Pinning(func() { pins++ }, func() { pins += 1000 })
	if c.rates != &rates || c.skipped != &skipped {
		t.Error("what thins out is not kept")
	}
	rows := counting(t, all)
	if reportTo == nil {
		t.Error("the hook is not set while events are counted")
	}
	report(row.MakeSlice, here(), lies(1), 1, 1, intType)
	if word, bit := place(lies(1)); *word&bit == 0 || bits == [1 << 13]uint64{} {
		t.Error("the runtime does not know that it is followed")
	}
	rows()
	watch(16)
	if flag == 0 || of != 15 {
		t.Errorf("operations are reported: %d, one of %d", flag, of+1)
	}
	watch(0)
	if flag != 0 {
		t.Error("operations are still reported")
	}
	pins = 0 // the writer has called it often
	pin()
	unpin()
	defer func(m map[string]string) { missing = m }(missing)
	Missing("maps", "it is elsewhere")
	if h := (&writer{}).head(); h.Missing["maps"] != "it is elsewhere" {
		t.Errorf("the head is %+v", h)
	}
	if pins != 1001 {
		t.Errorf("pinned %d", pins)
	}
}
