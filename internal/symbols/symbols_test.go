package symbols

import (
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/long"
)

// build builds the program of testdata and returns the executable's path.
func build(t testing.TB, env string, flags ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "prog")
	cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), ".")...)
	cmd.Dir = filepath.Join("testdata", "prog")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), strings.Fields(env)...)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %q: %v\n%s", flags, err, b)
	}
	return out
}

func open(t testing.TB, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLines: the program's lines with code, and their functions; inlined lines are in the
// functions they were inlined into. Stripped executables, and those of other systems, have
// the same.
func TestLines(t *testing.T) {
	want := map[int]string{
		7: "", 8: "main.first main.second", 9: "", 13: "main.index", 18: "main.escapes", 19: "main.escapes",
		29: "", 34: "main.first", 38: "main.second", 42: "main.main", 43: "main.main",
	}
	for _, c := range []struct {
		name, env string
		flags     []string
	}{
		{"plain", "GOOS=linux GOARCH=amd64", nil}, {"stripped", "GOOS=linux GOARCH=amd64", []string{"-ldflags=-s -w", "-trimpath"}},
		{"arm64", "GOOS=linux GOARCH=arm64", nil}, {"darwin", "GOOS=darwin GOARCH=arm64", []string{"-ldflags=-s -w"}}, {"windows", "GOOS=windows GOARCH=amd64", []string{"-ldflags=-s -w"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "darwin" || c.name == "windows" {
				long.Skip(t, "compiles the standard library for another system")
			}
			b := open(t, build(t, c.env, c.flags...))
			fs := b.Find("main.main")
			if len(fs) != 1 || filepath.Base(fs[0].File) != "main.go" || fs[0].Line != 41 {
				t.Fatalf("main.main: %+v", fs)
			}
			if n := len(b.Find("main.generic[...]")); n != 2 {
				t.Errorf("%d instances of a generic function", n)
			}
			owners := b.Owners(fs[0].File)
			for line, names := range want {
				if got := strings.Join(owners[line], " "); got != names {
					t.Errorf("line %d has code in %q, want %q", line, got, names)
				}
			}
			if b.BuildID == "" {
				t.Error("no build id")
			}
			insts, err := b.Disasm(fs[0])
			if err != nil || !slices.ContainsFunc(insts, func(i Inst) bool { return strings.HasPrefix(i.Text, "CALL main.escapes(SB)") && i.Line == 42 }) {
				t.Errorf("%v; no call of escapes in %+v", err, insts)
			}
		})
	}
}

// TestOwnersAreThoseOfDWARF: the compiler's debug information has the same lines.
func TestOwnersAreThoseOfDWARF(t *testing.T) {
	path := build(t, "GOOS=linux GOARCH=amd64")
	b := open(t, path)
	file := b.Find("main.main")[0].File
	x, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	d, err := x.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]bool{}
	units := d.Reader()
	for {
		e, err := units.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag != dwarf.TagCompileUnit {
			units.SkipChildren()
			continue
		}
		lines, err := d.LineReader(e)
		if err != nil || lines == nil {
			continue
		}
		var at, next dwarf.LineEntry
		for ok := lines.Next(&at) == nil; ok; at = next {
			ok = lines.Next(&next) == nil
			if ok && !at.EndSequence && at.File.Name == file && next.Address > at.Address {
				want[at.Line] = true
			}
		}
	}
	got := slices.Sorted(maps.Keys(b.Owners(file)))
	if list := slices.Sorted(maps.Keys(want)); !slices.Equal(got, list) || len(list) < 10 {
		t.Errorf("lines with code %v, by DWARF %v", got, list)
	}
}

// TestPlacesAreThoseOfGosym: places agree with debug/gosym, for each function of the program
// and of the runtime in it.
func TestPlacesAreThoseOfGosym(t *testing.T) {
	path := build(t, "GOOS=linux GOARCH=amd64")
	b := open(t, path)
	x, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	data, err := x.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, x.Section(".text").Addr))
	if err != nil || len(table.Funcs) != len(b.Funcs()) {
		t.Fatalf("%v; %d functions, and we have %d", err, len(table.Funcs), len(b.Funcs()))
	}
	wrong := 0
	for i := range table.Funcs {
		f := &table.Funcs[i]
		for _, pc := range []uint64{f.Entry, (f.Entry + f.End) / 2, f.End - 1} {
			file, line, fn := table.PCToLine(pc)
			g, ourFile, ourLine := b.At(pc)
			if g == nil || fn == nil || g.Name != fn.Name || line > 0 && (ourFile != file || ourLine != line) {
				if wrong++; wrong < 10 {
					t.Errorf("%#x: %v %s:%d, want %v %s:%d", pc, g, ourFile, ourLine, fn, file, line)
				}
			}
		}
	}
}

// TestDisasmIsThatOfObjdump compares addresses and calls.
func TestDisasmIsThatOfObjdump(t *testing.T) {
	path := build(t, "GOOS=linux GOARCH=amd64")
	b := open(t, path)
	out, err := exec.Command("go", "tool", "objdump", "-s", `^main\.main$`, path).Output()
	if err != nil {
		t.Skip("go tool objdump: ", err)
	}
	insts, err := b.Disasm(b.Find("main.main")[0])
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(string(out)) {
		w := strings.Fields(line)
		if len(w) < 4 || !strings.HasPrefix(w[1], "0x") {
			continue
		}
		text := strings.ReplaceAll(strings.Join(w[3:], " "), ".abi0(SB)", "(SB)") // the line table does not have ABIs
		if i == len(insts) {
			if text != "INT $0x3" {
				t.Errorf("%s is missing", line)
			}
			continue
		}
		if fmt.Sprintf("%#x", insts[i].PC) != w[1] || strings.HasPrefix(text, "CALL") && insts[i].Text != text || !strings.HasSuffix(w[0], fmt.Sprintf(":%d", insts[i].Line)) {
			t.Errorf("%+v, want %s", insts[i], line)
		}
		i++
	}
	if i < 20 {
		t.Errorf("objdump has %d instructions", i)
	}
}

// TestSlide: the address of a known line yields the load offset of a program.
func TestSlide(t *testing.T) {
	b := open(t, build(t, "GOOS=linux GOARCH=amd64"))
	f := b.Find("main.second")[0]
	pc := f.Entry
	for _, _, n := b.At(pc); n != 38; _, _, n = b.At(pc) {
		pc++
	}
	for _, slide := range []uint64{0, 4096, 0x5555_5555_4000} {
		if got, ok := b.Slide("main.second", 38, pc+slide); !ok || got != slide {
			t.Errorf("%#x, %v, want %#x", got, ok, slide)
		}
	}
	if _, ok := b.Slide("main.second", 38, pc+100); ok {
		t.Error("programs are moved by pages")
	}
	if _, ok := b.Slide("main.nobody", 1, f.Entry); ok {
		t.Error("there is no such function")
	}
}

func TestBuildID(t *testing.T) {
	path := build(t, "GOOS=linux GOARCH=amd64")
	out, err := exec.Command("go", "tool", "buildid", path).Output()
	if want := strings.TrimSpace(string(out)); err != nil || open(t, path).BuildID != want {
		t.Errorf("%q, want %q, %v", open(t, path).BuildID, want, err)
	}
}

func TestNoBinary(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	filetest.Write(t, text, []byte("no executable"))
	for path, want := range map[string]string{text: "not an executable of a known format", filepath.Join(t.TempDir(), "none"): "no such file"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if sh, err := os.Executable(); err == nil { // of C, if there is one
		for _, c := range []string{"/bin/true", "/usr/bin/true"} {
			if _, err := os.Stat(c); err != nil {
				continue
			}
			if _, err := Open(c); !errors.Is(err, ErrNoTable) {
				t.Errorf("%s, which is not %s: %v", c, sh, err)
			}
		}
	}
}

// TestSectionsAreBounded: the total size of an executable's sections is limited, because
// several may be the same bytes of a small file.
func TestSectionsAreBounded(t *testing.T) {
	read := func() ([]byte, error) { return []byte{1}, nil }
	b := &Binary{}
	for i, tc := range []struct {
		size uint64
		ok   bool
	}{{most + 1, false}, {most / 2, true}, {1<<64 - 1, false}, {most/2 + 1, false}, {most / 2, true}, {0, true}, {1, false}} {
		if d, err := b.bounded(tc.size, read); (err == nil) != tc.ok || (d != nil) != tc.ok {
			t.Errorf("%d: %d bytes: %v", i, tc.size, err)
		}
	}
}

// FuzzTable: a foreign line table yields an error or functions, without a panic and in
// limited time.
func FuzzTable(f *testing.F) {
	path := build(f, "GOOS=linux GOARCH=amd64")
	x, err := elf.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	r := x.Section(".gopclntab").Open()
	head, err := io.ReadAll(io.LimitReader(r, 1<<12))
	x.Close()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(head)
	f.Add([]byte("\xf1\xff\xff\xff\x00\x00\x01\x08"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := newTable(data, 0x1000)
		if err != nil {
			return
		}
		funcs, err := table.functions()
		if err != nil {
			return
		}
		b := &Binary{table: table, funcs: funcs}
		b.Owners("main.go")
		b.At(0x1001)
		if s, err := search([][]byte{data}); err == nil && len(s) == 0 {
			t.Error("found nothing")
		}
	})
}

// TestFrames: an address in inlined code is in both functions, each at its own line.
func TestFrames(t *testing.T) {
	b := open(t, build(t, "GOOS=linux GOARCH=amd64", "-ldflags=-s -w"))
	f := b.Find("main.second")[0]
	for pc := f.Entry; pc < f.End; pc++ {
		if _, _, line := b.At(pc); line != 8 {
			continue
		}
		list := b.Frames(pc)
		if len(list) != 2 || list[0].Func != "main.third" || list[0].Line != 8 || list[0].Start != 7 || !list[0].Inlined ||
			list[1].Func != "main.second" || list[1].Line != 38 || list[1].Start != 37 || list[1].Inlined {
			t.Errorf("%+v", list)
		}
		if b.Frames(f.Entry-1<<30) != nil {
			t.Error("there is no function")
		}
		return
	}
	t.Error("no code of line 8")
}

// TestPlacesAreThoseOfTheRuntime compares places with the runtime's, for the test itself.
func TestPlacesAreThoseOfTheRuntime(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(exe)
	if err != nil {
		t.Skip(err)
	}

	wrong := 0
	for _, f := range b.Funcs() {
		for _, pc := range []uint64{f.Entry + 1, (f.Entry + f.End) / 2} {

			fn := runtime.FuncForPC(uintptr(pc))
			if fn == nil || fn.Name() == "" {
				continue
			}
			got := b.Frames(pc)
			if len(got) == 0 || PrintName(got[0].Func) != PrintName(fn.Name()) {
				if wrong++; wrong < 10 {
					t.Errorf("%#x is in %s, and we have %+v", pc, fn.Name(), got)
				}
			}
		}
	}
}
