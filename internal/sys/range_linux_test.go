package sys

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/faultfs"
)

const page = 64 << 10 // as large as any system's

// TestRange maps files one after another into one range of addresses.
func TestRange(t *testing.T) {
	r, err := NewRange(4 << 30)
	if err != nil {
		t.Fatal(err)
	}
	if r.Size() != 4<<30 || r.Base() == 0 {
		t.Fatalf("%d bytes at %#x", r.Size(), r.Base())
	}
	faults(t, r, "before a file is mapped")
	for i, scratch := range []bool{true, false, true} {
		f, err := os.Create(filepath.Join(t.TempDir(), "mapped"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(2 * page); err != nil {
			t.Fatal(err)
		}
		if err := r.Map(int(f.Fd()), 0, 0, 1<<30); err != nil {
			t.Fatal(err)
		}
		if err := r.Populate(0, 2*page); err != nil {
			t.Logf("populating: %v", err) // before Linux 5.14
		}
		w := r.Words(page, page)
		if len(w) != page/8 || w[0] != 0 {
			t.Fatalf("round %d: %d words, the first is %d", i, len(w), w[0])
		}
		w[0] = uint64(0x0101 * (i + 1))
		r.Record(page + 32)[2] = 7
		if err := r.Drop(0, 2*page); err != nil {
			t.Error(err)
		}
		if w[0] != uint64(0x0101*(i+1)) || w[6] != 7 || r.Bytes(page, 8)[0] != byte(i+1) {
			t.Errorf("round %d: the pages that were dropped came back with %#x and %d", i, w[0], w[6])
		}
		// Beyond the file's end there are addresses but no memory.
		if err := r.Populate(2*page, page); err == nil && !faultfs.Emulated() {
			t.Error("populating beyond the file's end did not fail")
		}
		if err := r.VacateAll(-1, 0, scratch); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(f.Name())
		if err != nil || b[page] != byte(i+1) {
			t.Errorf("round %d: the file has %d: %v", i, b[page], err)
		}
		if maps, err := os.ReadFile("/proc/self/maps"); err != nil || bytes.Contains(maps, []byte(f.Name())) {
			t.Errorf("round %d: the file is still mapped: %v", i, err)
		}
		if w[0] != 0 {
			t.Errorf("round %d: what is left begins with %d", i, w[0])
		}
		if !scratch {
			faults(t, r, "without scratch memory")
			continue
		}
		w[0] = 99 // like a late writer
	}
	if err := r.Map(0, 0, 0, 8<<30); err == nil {
		t.Error("more was mapped than is reserved")
	}
}

// faults checks that storing into the range faults, which SetPanicOnFault turns
// into a panic: no other memory is there.
func faults(t *testing.T, r *Range, when string) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			t.Errorf("%s the addresses can be written", when)
		}
	}()
	r.Words(0, page)[0] = 1
}

// TestReadOnly checks what counts as memory that never changes: the program's
// constants, and nothing that could be written, unmapped or reused.
func TestReadOnly(t *testing.T) {
	spans := ReadOnly()
	lasts := func(s string) bool {
		a := StringAddr(s)
		for _, sp := range spans {
			if a >= sp.From && a+uintptr(len(s)) <= sp.To {
				return true
			}
		}
		return false
	}
	if !lasts("a constant of the program") {
		t.Errorf("a constant is not in %v", spans)
	}
	buf := []byte("on the heap or the stack")
	if lasts(string(buf)) {
		t.Error("a string that was made at run time counts as constant")
	}
	if lasts(variable) != (StringAddr(variable) == StringAddr(initial)) {
		t.Error("a variable's bytes count by where they are")
	}
	if lasts(os.Args[0]) {
		t.Error("an argument of the program counts as constant")
	}
}

const initial = "what a variable begins with"

var variable = initial
