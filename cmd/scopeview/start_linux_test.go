package main

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// TestOpenAny: scopeview FILE shows a profile as a table and serves all else, and says what can't be
// opened.
func TestOpenAny(t *testing.T) {
	scriptTrace(t, "functions")
	t.Setenv("PATH", t.TempDir()) // no browser is opened
	if r := scopeview("export pprof", "all.scope", "-o", "x.pb.gz"); r.code != exitOK {
		t.Fatal(r)
	}
	if got, want := scopeview("x.pb.gz"), scopeview("profile", "x.pb.gz"); got != want || want.out == "" {
		t.Errorf("%v, want %v", got, want)
	}
	input, err := os.Open("x.pb.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	var out, errs strings.Builder
	code := execute(t.Context(), &streams{in: input, out: &out, err: &errs}, []string{standardInput})
	if want := scopeview("profile", "x.pb.gz"); code != exitOK || out.String() != want.out {
		t.Errorf("from standard input: exit code %d, %s%s, want %s", code, &out, &errs, want.out)
	}
	data := filetest.Read(t, "all.scope")
	f, err := os.Create("all.scope.gz")
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	compressed := &streams{in: strings.NewReader(string(filetest.Read(t, "all.scope.gz")))}
	if in, _ := compressed.sniffInput(t.Context()); in == nil || !holdsTrace(in) {
		t.Error("a compressed trace from standard input is taken for something else")
	}
	for _, path := range []string{"all.scope", "all.scope.gz", "."} {
		v := serveBy(t, path)
		if status, page := v.get(v.url); status != 200 || !strings.Contains(page, "<html") {
			t.Errorf("%s: %d %s", path, status, page)
		}
		if code, errs := v.ends(); code != exitOK || !strings.Contains(errs, "open the address yourself") {
			t.Errorf("%s: exit code %d, %s", path, code, errs)
		}
	}
	if code := execute(t.Context(), &streams{out: io.Discard, err: io.Discard}, []string{"", "--from"}); code != exitUsage {
		t.Errorf("an empty name: exit code %d", code)
	}
	for args, want := range map[string]string{
		"nothing.scope":         `neither a command nor a file "nothing.scope"`,
		"topp all.scope":        `neither a command nor a file "topp"; did you mean top?`,
		"frob x.scope --from 1": `neither a command nor a file "frob"`,
		"all.scope all.scope":   "one file is opened, not 2",
		"all.scope --from 1s":   "unknown flag: --from",
	} {
		if r := scopeview(strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %v, want %s", args, r, want)
		}
	}
}
