package samples

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// truth skips a test that compares with other tools, unless make truth runs it.
func truth(t *testing.T) {
	t.Helper()
	if os.Getenv("SCOPEVIEW_TRUTH") != "1" {
		t.Skip("compares with go tool pprof: make truth runs it")
	}
}

// goTool runs go, and returns its standard output.
func goTool(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return out
}

// flatCum has the values of a function.
type flatCum struct{ flat, cum int64 }

// byPprof returns the functions of a file by go tool pprof -topproto. Samples without a
// function are "", flat only.
func byPprof(t *testing.T, path string, of *profile.ValueType, index int) map[string]flatCum {
	t.Helper()
	out := filepath.Join(t.TempDir(), "top.pb.gz")
	goTool(t, "tool", "pprof", "-symbolize=none", "-topproto", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0",
		fmt.Sprint("-sample_index=", index), "-unit="+of.Unit, "-output="+out, path)
	b := filetest.Read(t, out)
	q, err := profile.ParseData(b)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]flatCum{}
	for _, s := range q.Sample {
		name := s.Location[0].Line[0].Function.Name
		x := flatCum{s.Value[1], s.Value[0]}
		if name == "" || strings.HasPrefix(name, "[") || strings.HasPrefix(name, "<") {
			name, x.cum = "", 0
		}
		have := all[name]
		all[name] = flatCum{have.flat + x.flat, have.cum + x.cum}
	}
	return all
}

// ours returns the same from a profile.
func ours(p *Profile, m int) map[string]flatCum {
	all := map[string]flatCum{}
	for i := range p.Stacks {
		s := &p.Stacks[i]
		seen := map[string]bool{}
		for d, f := range s.Frames {
			name := strings.TrimPrefix(f.Func, UnknownName)
			x := all[name]
			if d == 0 {
				x.flat += s.Values[m]
			}
			if name != "" && !seen[name] {
				seen[name] = true
				x.cum += s.Values[m]
			}
			all[name] = x
		}
	}
	return all
}

func compareSums(t *testing.T, of string, got, want map[string]flatCum) {
	t.Helper()
	for name, x := range want {
		if got[name] != x {
			t.Errorf("%s: %q has %+v, and pprof says %+v", of, name, got[name], x)
		}
		delete(got, name)
	}
	for name, x := range got {
		if x != (flatCum{}) {
			t.Errorf("%s: %q has %+v, and pprof does not have it", of, name, x)
		}
	}
}

// TestTruthPprof: for every profile in the test data of google/pprof, each function has the
// values of go tool pprof, for each sample type.
func TestTruthPprof(t *testing.T) {
	truth(t)
	dir := strings.TrimSpace(string(goTool(t, "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof")))
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "testdata") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if q, err := profile.ParseData(data); err == nil && len(q.Sample) > 0 {
			n++
			comparePprof(t, strings.TrimPrefix(path, dir+"/"), path, data)
		}
		return nil
	})
	if err != nil || n < 20 {
		t.Errorf("%d profiles were found, %v", n, err)
	}
}

// comparePprof compares the sums of a profile read from data, which is the file at path.
func comparePprof(t *testing.T, name, path string, data []byte) {
	t.Helper()
	p, err := OfPprof(context.Background(), bytes.NewReader(data), anything())
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	q, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.RemoveUninteresting(); err != nil {
		t.Fatal(err)
	}
	for m, of := range q.SampleType {
		want := byPprof(t, path, of, m)
		for _, s := range q.Sample {
			if len(s.Location) == 0 { // pprof counts it in the total alone, we count it as unnamed
				x := want[""]
				x.flat += s.Value[m]
				want[""] = x
			}
		}
		compareSums(t, name+" "+of.Type, ours(p, m), want)
	}
}

// TestTruthDifference: for a profile with negative values, with frames to drop and to keep,
// and with a base, the functions have pprof's values, and shares refer to the total that it
// names.
func TestTruthDifference(t *testing.T) {
	truth(t)
	for _, c := range []struct {
		name  string
		drop  string
		base  bool
		total string
	}{{"negative", "", false, "of 1008B total"}, {"dropped", ".*alloc", false, "of 1008B total"}, {"base", "", true, "of 300B total"}} {
		q := stackProfile(map[string]int64{"more main": 700, "less main": -300, "inner alloc more main": 5, "kept_alloc main": 3})
		q.DropFrames, q.KeepFrames = c.drop, "kept_.*"
		for _, s := range q.Sample {
			if c.base && s.Value[0] == -300 {
				s.Label = map[string][]string{"pprof::base": {"true"}}
			}
		}
		path := filepath.Join(t.TempDir(), c.name)
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			t.Fatal(err)
		}
		filetest.Write(t, path, b.Bytes())
		comparePprof(t, c.name, path, b.Bytes())
		p, err := OfPprof(context.Background(), &b, anything())
		if err != nil {
			t.Fatal(err)
		}
		top := string(goTool(t, "tool", "pprof", "-symbolize=none", "-top", "-unit=b", path))
		if !strings.Contains(top, c.total) || fmt.Sprintf("of %dB total", p.Metrics[0].Whole) != c.total {
			t.Errorf("%s: shares are of %d; pprof says:\n%s", c.name, p.Metrics[0].Whole, top)
		}
	}
}
