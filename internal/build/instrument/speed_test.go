package instrument_test

import (
	"bytes"
	"go/build"
	"maps"
	"path/filepath"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// input returns a package of the standard library.
func input(t testing.TB, path string) instrument.Input {
	t.Helper()
	p, err := build.Import(path, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	in := instrument.Input{ImportPath: path, Name: p.Name, Hooks: "example.com/hooks", Files: map[string][]byte{}}
	for _, name := range p.GoFiles {
		in.Files[name] = filetest.Read(t, filepath.Join(p.Dir, name))
	}
	return in
}

// TestSameTwice: the output depends only on the input.
func TestSameTwice(t *testing.T) {
	in := input(t, "go/types")
	in.Args = true
	first, err := instrument.Package(in)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		in.Files = maps.Clone(in.Files)
		again, err := instrument.Package(in)
		if err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(first.Files, again.Files, bytes.Equal) || !bytes.Equal(first.Table.Text, again.Table.Text) {
			t.Fatal("the same package was edited in two ways")
		}
	}
	if n := len(first.Files); n < 40 {
		t.Errorf("%d files were edited", n)
	}
}

// BenchmarkPackage edits packages of many and of few files, and reports files per second.
func BenchmarkPackage(b *testing.B) {
	for _, path := range []string{"go/types", "net/http", "encoding/json"} {
		b.Run(path, func(b *testing.B) {
			in, size := input(b, path), 0
			for _, text := range in.Files {
				size += len(text)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, err := instrument.Package(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(in.Files)*b.N)/b.Elapsed().Seconds(), "files/s")
			b.ReportMetric(float64(size/len(in.Files)), "B/file")
		})
	}
}
