package symbols

import (
	"debug/elf"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/unwind"
)

// TestCalls: a direct call can only have called the function at its target; for an indirect
// call, and for anything else, the function is unknown.
func TestCalls(t *testing.T) {
	im := image(t, compiled(t, "clang", "-g"))
	calls := map[string]int{}
	for _, s := range im.symbols {
		for pc := s.addr + 5; pc < s.to && s.name == "main"; pc++ {
			to, ok := unwind.Target(im.code, pc)
			if !ok {
				if !im.Calls(pc, "main") {
					t.Errorf("%#x is behind no call, and can't be one of main", pc)
				}
				continue
			}
			name := im.Entry(to)
			calls[name]++
			if name == "" { // a stub of the C library
				continue
			}
			if !im.Calls(pc, name) || !im.Calls(pc, name+".cold") || im.Calls(pc, "main") {
				t.Errorf("the call of %s before %#x: of it %v, of its cold part %v, of main %v", name, pc, im.Calls(pc, name), im.Calls(pc, name+".cold"), im.Calls(pc, "main"))
			}
		}
	}
	if im.code.Arch() == "amd64" && (calls["_ZN4shop4Till3addEm"] != 1 || len(calls) < 2) {
		t.Errorf("main calls %v", calls)
	}
}

// TestStubs: a symbol without a size ends with its section, so stubs of shared objects are not
// _init.
func TestStubs(t *testing.T) {
	path := compiled(t, "clang", "-g")
	x, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	plt, im := x.Section(".plt"), image(t, path)
	if plt == nil || plt.Size == 0 {
		t.Skip("this linker makes no stubs")
	}
	for pc := plt.Addr; pc < plt.Addr+plt.Size; pc++ {
		if got := im.Frames(pc); got != nil {
			t.Fatalf("%#x, a stub, is at %+v", pc, got)
		}
	}
}

// TestPartsOfExecutables: a file without its DWARF, or without its code, is reported as such.
func TestPartsOfExecutables(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		im := image(t, compiled(t, "clang", "-g", "-gsplit-dwarf", version))
		if !errors.Is(im.Debug, errSplit) {
			t.Errorf("%s: %v", version, im.Debug)
		}
		for _, s := range im.symbols {
			if s.name == "main" {
				if got := im.Frames(s.addr); len(got) != 1 || got[0] != (Frame{Func: "main"}) {
					t.Errorf("%s: main is at %+v", version, got)
				}
			}
		}
	}
	path := compiled(t, "clang", "-g")
	objcopy, err := exec.LookPath("objcopy")
	if err != nil {
		t.Skip("needs objcopy: make deps installs it")
	}
	if out, err := exec.Command(objcopy, "--only-keep-debug", path, path+".debug").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := OpenImage(path + ".debug"); !errors.Is(err, errNoCode) {
		t.Errorf("debug information alone: %v", err)
	}
}

// TestListsAreBounded: the reading of entries that refer to the same lists is limited.
func TestListsAreBounded(t *testing.T) {
	im := image(t, compiled(t, "clang", "-g"))
	im.budget = 2
	for _, r := range im.ranges {
		im.unitAt(r.from)
	}
	if !errors.Is(im.Debug, errParts) || !strings.Contains(im.Debug.Error(), "more stretches of code") {
		t.Errorf("%v", im.Debug)
	}
}
