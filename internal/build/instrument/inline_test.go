package instrument_test

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/build/instrument"
	"github.com/scopeview/scopeview/internal/testing/filetest"
	"github.com/scopeview/scopeview/internal/testing/long"
)

// agreement compares the estimates with the compiler's for a package.
type agreement struct {
	same, all int
	misses    []string
}

func (a agreement) String() string {
	return fmt.Sprintf("%d of %d, %.1f%%", a.same, a.all, 100*float64(a.same)/float64(max(1, a.all)))
}

var inlineLine = regexp.MustCompile(`^(\S+?):(\d+):\d+: (can|cannot) inline (\S+?)(?: with cost (\d+) as:.*|: (.*))$`)

func compareInlining(t *testing.T, dir, path string) agreement {
	t.Helper()
	cmd := exec.Command("go", "build", "-gcflags="+path+"=-m=2", path)
	cmd.Dir = dir
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	type key struct {
		file string
		line int
	}
	compiler := map[key]map[bool]string{} // by place: whether it can inline, and its message
	for line := range strings.Lines(string(said)) {
		m := inlineLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(m[2])
		k := key{filepath.Base(m[1]), n}
		if compiler[k] == nil {
			compiler[k] = map[bool]string{}
		}
		compiler[k][m[3] == "can"] = m[5] + m[6]
	}
	src, out := sourceOf(t, dir, path, "")
	byPlace := map[key][]instrument.Func{}
	for _, f := range out.Funcs {
		if f.Why != instrument.WhyNoBody {
			k := key{f.File, f.Line}
			byPlace[k] = append(byPlace[k], f)
		}
	}
	var a agreement
	for k, fs := range byPlace {
		said := compiler[k]
		if len(fs) != 1 || len(said) != 1 { // two functions on a line
			continue
		}
		a.all++
		_, can := said[true]
		// Literals that are called once are inlined at up to ten times the budget. They are
		// larger than a few instructions, and recorded.
		if n, _ := strconv.Atoi(said[true]); n > 80 {
			can = false
		}
		if can == (fs[0].Cost <= 80) {
			a.same++
		} else {
			a.misses = append(a.misses, fmt.Sprintf("%s:%d %s: estimate %d, compiler %s", filepath.Join(src, k.file), k.line, fs[0].Name, fs[0].Cost, said[true]+said[false]))
		}
	}
	slices.Sort(a.misses)
	return a
}

// sourceOf instruments a package that the go command finds, and writes everything but the
// named file. It also returns the package's directory.
func sourceOf(t *testing.T, dir, path, except string) (string, instrument.Output) {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", "{{.Dir}}", path)
	cmd.Dir = dir
	at, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	src := strings.TrimSpace(string(at))
	p, err := build.ImportDir(src, 0)
	if err != nil {
		t.Fatal(err)
	}
	in := instrument.Input{ImportPath: path, Name: p.Name, Files: map[string][]byte{}, Hooks: "example.com/hooks"}
	for _, name := range p.GoFiles {
		if name == except {
			continue
		}
		if in.Files[name], err = os.ReadFile(filepath.Join(src, name)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := instrument.Package(in)
	if err != nil {
		t.Fatal(err)
	}
	return src, out
}

// TestInlining: the estimate of inlining is right for nearly all functions.
func TestInlining(t *testing.T) {
	packages := []string{"encoding/json"}
	if list := os.Getenv("SCOPEVIEW_INLINE"); list != "" {
		packages = strings.Fields(list)
	}
	for _, path := range packages {
		a := compareInlining(t, ".", path)
		t.Logf("%s: %v", path, a)
		for _, m := range a.misses {
			t.Log("  " + m)
		}
		if a.same*100 < a.all*95 {
			t.Errorf("%s: the estimate agrees with the compiler in %v", path, a)
		}
	}
}

// exported matches the compiler's messages on exported functions that it inlines.
var exported = regexp.MustCompile(`(?m)can inline ([A-Z]\w*) with cost (\d+) as`)

// TestStandard compares std.txt with the compiler's messages on the standard library.
func TestStandard(t *testing.T) {
	if !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("std.txt is of Go 1.26")
	}
	long.Skip(t, "compiles much of the standard library once more")
	packages := strings.Fields(`fmt errors strings bytes strconv time os io sort sync context bufio path path/filepath unicode
		unicode/utf8 math math/bits net net/url net/http encoding/hex encoding/base64 encoding/json encoding/binary regexp
		log log/slog reflect runtime flag os/exec html math/rand hash/crc32 io/fs testing`)
	var lines []string
	for _, path := range packages {
		r := run(t, ".", nil, "go", "build", "-gcflags="+path+"=-m=2", path)
		if r.code != 0 {
			t.Fatal(r.err)
		}
		for _, m := range exported.FindAllStringSubmatch(r.err, -1) {
			if n, _ := strconv.Atoi(m[2]); n <= 80 {
				lines = append(lines, path+"."+m[1]+" "+m[2]+"\n")
			}
		}
	}
	slices.Sort(lines)
	got := strings.Join(slices.Compact(lines), "")
	if *update {
		filetest.Write(t, "std.txt", []byte(got))
		return
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && got != string(filetest.Read(t, "std.txt")) {
		t.Error("std.txt is not what the compiler says: go test -run TestStandard -update")
	}
}
