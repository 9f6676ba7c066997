package source

import (
	"context"
	"debug/elf"
	"debug/gosym"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestTruthFreshNames: of the functions of a fresh build, including wrappers and closures of
// inlined functions, hardly any is missing in the source.
func TestTruthFreshNames(t *testing.T) {
	if os.Getenv("SCOPEVIEW_TRUTH") != "1" {
		t.Skip("builds a large program: make truth runs it")
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads an ELF executable")
	}
	bin := filepath.Join(t.TempDir(), "x")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/scopeview/scopeview/cmd/scopeview").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pcln, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(pcln, f.Section(".text").Addr))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range table.Funcs {
		names = append(names, f.Name)
	}
	s, err := Load(context.Background(), Config{Dir: "../../..", Patterns: []string{"./cmd/scopeview"}, Names: names})
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, f := range table.Funcs {
		pkg, _ := split(fold(f.Name))
		if u := s.pkgs[pkg]; pkg == "" || u == nil || u.err != nil {
			continue
		}
		name := fold(f.Name)
		known := s.funcs[name] != nil && s.funcs[name].fits(f.Name)
		if !known && s.wrapped(name) == nil && !s.inlined(name) && instantiated(f.Name) < 2 {
			gone++
			t.Logf("%.200s is gone", f.Name)
		}
	}
	// Some exist only in assembly or by go:linkname, and some closures are numbered differently.
	if len(names) < 10_000 || gone > len(names)/1000 {
		t.Errorf("of %d functions of a fresh build %d are gone", len(names), gone)
	}
}
