package symbols

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

const cppSource = `#include <stdlib.h>

volatile unsigned long sink;

namespace shop {

template <typename T> static inline T twice(T x) {
	if (x & 1) sink += x; else sink ^= x;
	return x + x;
}

struct Till {
	unsigned long sum;
	__attribute__((noinline)) unsigned long add(unsigned long n);
	unsigned long two(unsigned long n) { return twice(n) + twice(sum); }
};

unsigned long
Till::add(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) { if (sink & 2) sum += two(i); else if (sink & 4) sum ^= two(sum); else sink = i; }
	return sum;
}

}

__attribute__((noinline)) static unsigned long plain(unsigned long n) {
	return n * sink;
}

int main(int argc, char **argv) {
	shop::Till t = {(unsigned long)argc};
	return t.add(atoi(argv[1])) + plain(argc);
}
`

// compiled compiles cppSource, and returns the program's path.
func compiled(t *testing.T, compiler string, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("needs %s: make deps installs it", compiler)
	}
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "shop.cc"), []byte(cppSource))
	cmd := exec.Command(path, append(flags, "-O2", "-x", "c++", "shop.cc", "-o", "shop")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return filepath.Join(dir, "shop")
}

func image(t *testing.T, path string) *Image {
	t.Helper()
	im, err := OpenImage(path)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// printed is a place as llvm-symbolizer prints it.
type printed struct{ name, line, start, disc string }

// symbolizer returns the places of addresses.
func symbolizer(t *testing.T, path string, addrs []uint64) (list [][]printed) {
	t.Helper()
	tool := ""
	for _, name := range []string{"llvm-symbolizer-14", "llvm-symbolizer"} {
		if p, err := exec.LookPath(name); err == nil && tool == "" {
			tool = p
		}
	}
	if tool == "" {
		t.Skip("needs llvm-symbolizer: make deps installs it")
	}
	cmd := exec.Command(tool, "--obj="+path, "--verbose", "--no-demangle", "--functions=linkage")
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for place := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n\n") {
		var frames []printed
		for line := range strings.SplitSeq(place, "\n") {
			key, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if !ok {
				frames = append(frames, printed{name: line, disc: "0", start: "0"})
				continue
			}
			switch f := &frames[len(frames)-1]; key {
			case "Line":
				f.line = value
			case "Function start line":
				f.start = value
			case "Discriminator":
				f.disc = value
			}
		}
		list = append(list, frames)
	}
	return list
}

// TestAsTheSymbolizer: each address of the code has the places that llvm-symbolizer prints
// for it: names, lines, first lines if it has them, discriminators.
func TestAsTheSymbolizer(t *testing.T) {
	for _, c := range []struct {
		compiler string
		flags    string
	}{
		{"clang", "-g -gdwarf-5"}, {"clang", "-g -gdwarf-4"}, {"clang", "-gline-tables-only -gdwarf-5"}, {"clang", "-gline-tables-only -gdwarf-4"},
		{"clang", "-gline-tables-only -fdebug-info-for-profiling"}, {"clang", "-g -gz=zlib -ffunction-sections -Wl,--gc-sections"},
		{"g++", "-g -gdwarf-5"}, {"g++", "-g -gdwarf-4 -no-pie"},
	} {
		t.Run(c.compiler+" "+c.flags, func(t *testing.T) {
			path := compiled(t, c.compiler, strings.Fields(c.flags)...)
			im := image(t, path)
			if im.Debug != nil {
				t.Fatal(im.Debug)
			}
			var addrs []uint64
			for _, s := range im.symbols {
				if s.name == "main" || strings.Contains(s.name, "plain") || strings.Contains(s.name, "add") {
					for pc := s.addr; pc < s.to; pc++ {
						addrs = append(addrs, pc)
					}
				}
			}
			want := symbolizer(t, path, addrs)
			if len(want) != len(addrs) || len(want) < 100 {
				t.Fatalf("%d places of %d addresses", len(want), len(addrs))
			}
			wrong, inlined, discs := 0, 0, 0
			for i, pc := range addrs {
				if k := len(want[i]); k > 1 {
					inlined = max(inlined, k)
				}
				got := im.Frames(pc)
				if !sameFrames(got, want[i], im.unitAt(pc)) && wrong < 5 {
					wrong++
					t.Errorf("%#x is at %+v, want %+v", pc, got, want[i])
				}
				for _, f := range got {
					discs = max(discs, int(f.Disc))
				}
			}
			// Clang writes discriminators only for profiles.
			if inlined < 3 || (discs > 0) != (c.compiler == "g++" || strings.Contains(c.flags, "profiling")) {
				t.Errorf("%d functions inlined into each other, discriminators up to %d: the test sees too little", inlined, discs)
			}
		})
	}
}

func sameFrames(got []Frame, want []printed, u *unit) bool {
	if len(got) != len(want) {
		return false
	}
	for i, f := range got {
		w := want[i]
		disc, _ := strconv.Atoi(w.disc)
		if i == 0 && u.disc(int64(disc)) != f.Disc {
			return false
		}
		if w.name != f.Func || w.line != strconv.Itoa(f.Line) || w.start != "0" && w.start != strconv.Itoa(f.Start) {
			return false
		}
	}
	return true
}

// TestStretch: places are the same up to the end of a stretch, and stretches are not too
// short.
func TestStretch(t *testing.T) {
	for name, path := range map[string]string{"C++": compiled(t, "clang", "-g"), "Go": build(t, "GOOS=linux GOARCH=amd64")} {
		t.Run(name, func(t *testing.T) {
			im := image(t, path)
			var from, to uint64
			if im.Go != nil {
				f := im.Go.Find("main.second")[0]
				from, to = f.Entry, f.End
			} else {
				for _, s := range im.symbols {
					if s.name == "main" || strings.Contains(s.name, "Till") {
						from, to = s.addr, s.to
					}
				}
			}
			n := 0
			for pc := from; pc < to; n++ {
				end, here := im.Stretch(pc), fmt.Sprint(im.Frames(pc))
				if end <= pc {
					t.Fatalf("%#x ends at %#x", pc, end)
				}
				for ; pc < min(end, to); pc++ {
					if got := fmt.Sprint(im.Frames(pc)); got != here {
						t.Fatalf("%#x is at %s, which it should share with %s", pc, got, here)
					}
				}
			}
			if n < 3 || uint64(n) > (to-from)/2 {
				t.Errorf("%d stretches of %d bytes", n, to-from)
			}
		})
	}
}

func TestPrologueAndEntry(t *testing.T) {
	path := compiled(t, "clang", "-g", "-fno-omit-frame-pointer")
	im := image(t, path)
	out, err := exec.Command("llvm-dwarfdump", "--debug-line", path).Output()
	if err != nil {
		t.Skip("needs llvm-dwarfdump: make deps installs it")
	}
	var ends []uint64
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 6 && strings.Contains(line, "prologue_end") {
			at, err := strconv.ParseUint(strings.TrimPrefix(f[0], "0x"), 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, at)
		}
	}
	found := 0
	for _, s := range im.symbols {
		for _, end := range ends {
			if s.addr >= end || end >= s.to {
				continue
			}
			found++
			for pc := s.addr; pc < s.to; pc++ {
				list := im.Frames(pc)
				if got := list[len(list)-1].Prologue; got != (pc < end) {
					t.Errorf("%s+%d: prologue %v, and it ends at %#x", s.name, pc-s.addr, got, end)
				}
				want := ""
				if pc == s.addr {
					want = s.name
				}
				if got := im.Entry(pc); got != want {
					t.Errorf("%s+%d is the entry of %q", s.name, pc-s.addr, got)
				}
			}
		}
	}
	if found != 3 {
		t.Errorf("%d functions with a prologue: %x", found, ends)
	}
}

func TestWithoutDebugInformation(t *testing.T) {
	path := compiled(t, "clang")
	im := image(t, path)
	if im.Debug == nil || im.Debug.Error() != ErrNoDebug.Error() {
		t.Errorf("%v", im.Debug)
	}
	for _, s := range im.symbols {
		if s.name == "main" {
			if got := im.Frames(s.addr + 4); len(got) != 1 || got[0] != (Frame{Func: "main"}) {
				t.Errorf("%+v", got)
			}
			if off := s.addr; im.Entry(s.addr) != "main" || im.Entry(off+1) != "" {
				t.Error("main's entry")
			}
		}
	}
	if im.Frames(1) != nil || im.Entry(1) != "" {
		t.Error("there is nothing at 1")
	}
}

// TestDiscriminators checks LLVM's numbers, as DILocation::encodeDiscriminator packs them
// from a base discriminator, a factor by which code was copied, and a number of the copy.
func TestDiscriminators(t *testing.T) {
	clang, other := &unit{clang: true}, &unit{}
	for raw, want := range map[int64]int32{0: 0, 2: 1, 4: 2, 62: 31, 1: 0, 3: 0, 192: 32} {
		if got := clang.disc(raw); got != want {
			t.Errorf("%d has base %d, want %d", raw, got, want)
		}
	}
	for base := range int64(4096) {
		u := base
		if base > 0x1f {
			u = base&0xfe0<<1 | base&0x1f | 0x20
		}
		raw := u << 1
		if base == 0 {
			raw = 1
		}
		bits := 7
		if base > 0x1f {
			bits = 14
		} else if base == 0 {
			bits = 1
		}
		for _, copies := range []int64{0, 1, 6} { // the copy's number, packed after it
			if got := clang.disc(raw | copies<<bits); got != int32(base) {
				t.Fatalf("%#x has base %d, want %d", raw|copies<<bits, got, base)
			}
		}
	}
	if other.disc(6) != 6 || other.disc(-1) != 0 || clang.disc(1<<40) != 0 {
		t.Error("discriminators of others are as they are")
	}
}

func TestGoImage(t *testing.T) {
	im := image(t, build(t, "GOOS=linux GOARCH=amd64"))
	if im.Go == nil || !im.Inlining() || im.Debug != nil {
		t.Fatalf("%v, %v, %v", im.Go, im.Inlining(), im.Debug)
	}
	f := im.Go.Find("main.second")[0]
	if im.Entry(f.Entry) != "main.second" || im.Entry(f.Entry+1) != "" {
		t.Error("the entry of main.second")
	}
	for pc := f.Entry; pc < f.End; pc++ {
		want, got := im.Go.Frames(pc), im.Frames(pc)
		if len(want) != len(got) {
			t.Fatalf("%#x is at %+v, want %+v", pc, got, want)
		}
		for i, w := range want {
			if g := got[i]; g.Func != w.Func || g.File != w.File || g.Line != w.Line || g.Start != w.Start || g.Disc != 0 {
				t.Fatalf("%#x is at %+v, want %+v", pc, got, want)
			}
		}
	}
	f = im.Go.Find("main.main")[0]
	first, last := im.Frames(f.Entry), im.Frames(f.End-1)
	if !first[len(first)-1].Prologue || last[len(last)-1].Prologue {
		t.Errorf("by the linker's DWARF main.main begins with a prologue: %+v, %+v", first, last)
	}
}

func FuzzImage(f *testing.F) {
	dir := f.TempDir()
	source := filepath.Join(dir, "f.c")
	if err := os.WriteFile(source, []byte("static inline int g(int x) { return x * x; }\nint f(int x) { return x > 1 ? g(x) + g(x + 1) : g(x - 1); }\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, flags := range []string{"-gdwarf-4", "-gdwarf-5"} {
		out := filepath.Join(dir, flags)
		if exec.Command("clang", "-O2", "-g", flags, "-shared", "-nostdlib", "-fPIC", source, "-o", out).Run() == nil {
			if b, err := os.ReadFile(out); err == nil {
				f.Add(b)
			}
		}
	}
	f.Add([]byte(elf.ELFMAG))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := newImage(bytes.NewReader(b), "f")
		if err != nil {
			return
		}
		for _, p := range im.loads {
			pc := p.Vaddr
			for range 64 {
				im.Frames(pc)
				im.Entry(pc)
				im.Frameless(pc)
				next := im.Stretch(pc)
				if next <= pc && pc != ^uint64(0) {
					t.Fatalf("the stretch of %#x ends at %#x", pc, next)
				}
				pc = next
			}
		}
	})
}
