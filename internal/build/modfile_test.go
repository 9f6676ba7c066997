package build

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

func TestModFile(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "module a.com/m\n\ngo 1.20\n", "module a.com/m\n\ngo 1.20\n\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => /r\n"},
		{"named and replaced", "module a.com/m\n\nrequire github.com/scopeview/scopeview v1.2.3\n\nreplace github.com/scopeview/scopeview v1.2.3 => ../x\n",
			"module a.com/m\n\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => /r\n"},
		{"none", "", "module command-line-arguments\n\ngo 1.26\n\nrequire github.com/scopeview/scopeview v0.0.0\n\nreplace github.com/scopeview/scopeview => /r\n"},
		{"the recorder's", "module github.com/scopeview/scopeview\n", ""},
	} {
		got, err := modFile("/m/go.mod", func(string) ([]byte, error) {
			if c.in == "" {
				return nil, os.ErrNotExist
			}
			return []byte(c.in), nil
		}, "/r", nil)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", c.name, err, got)
		}
	}
	if _, err := modFile("/m/go.mod", func(string) ([]byte, error) { return []byte("modul x"), nil }, "/r", nil); err == nil || !strings.Contains(err.Error(), "/m/go.mod:1") {
		t.Errorf("what is no go.mod: %v", err)
	}
}

func TestTheirOverlay(t *testing.T) {
	dir := t.TempDir()
	filetest.Write(t, filepath.Join(dir, "o.json"), []byte(`{"Replace": {"a.go": "b.go", "/x/c.go": ""}}`))
	for _, c := range []struct{ goflags, args, want string }{
		{"", "", ""},
		{"-race -overlay=o.json", "", "2"},
		{"", "-overlay o.json .", "2"},
		{"", "--overlay=o.json .", "2"},
		{"-overlay=o.json", "-overlay=o.json .", "-overlay is given 2 times"},
		{"", "-overlay=none.json .", "no such file"},
	} {
		l, err := Parse(Build, strings.Fields(c.args))
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := theirOverlay(&environment{GOFLAGS: c.goflags}, l, dir)
		switch {
		case c.want == "" || c.want == "2":
			if err != nil || len(o) != len(c.want)*2 {
				t.Errorf("%+v: %v, %v", c, o, err)
			}
			if c.want == "2" && (o[filepath.Join(dir, "a.go")] != filepath.Join(dir, "b.go") || o["/x/c.go"] != "") {
				t.Errorf("%v", o)
			}
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestRelabel(t *testing.T) {
	cache := opened(t)
	edited, err := cache.keep("/m/x/a.go", []byte("edited"))
	if err != nil {
		t.Fatal(err)
	}
	o, err := cache.keep("overlay.json", overlay{"/m/x/a.go": edited}.encode())
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel("/m", edited)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := (&Plan{Dir: "/m", Overlay: o}).Relabel(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"no name", "\n" + edited[:9], edited[9:] + ":1:2: wrong\n", rel + ":3: as wrong\nx/y: ", "as it is\n/files/00/1/a.go"} {
		if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if want := "no name\nx/a.go:1:2: wrong\nx/a.go:3: as wrong\nx/y: as it is\n/files/00/1/a.go"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
