package truth

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/scopeview/scopeview/internal/testing/filetest"
)

// program is a program of testdata, the commands that build it, and the one that is recorded.
type program struct {
	name  string
	build []string // each for sh -c
	run   string
	// share is the maximum share that perf may have in other functions than scopeview, beside
	// chance: perf has no names for some code.
	share float64
}

var programs = []program{
	{"exec", []string{"go build -o a ./execa", "go build -o b ./execb"}, "./a", 0},
	{"exec of a stripped one", []string{"go build -o a ./execa", "go build -ldflags='-s -w' -o b ./execb"}, "./a", 1},
	{"two under a shell", []string{"go build -o a ./spin", "go build -o b ./spin2"}, "sh -c './a; ./b'", 0},
	{"two side by side", []string{"go build -o a ./spin", "gcc -O1 -o b static1.c static2.c"}, "sh -c './a & ./b; wait'", 0},
	{"fork", []string{"gcc -O1 -fno-omit-frame-pointer -o a fork.c"}, "./a", 0},
	{"dlopen", []string{"gcc -O1 -shared -fPIC -DNAME=first -o one.so lib.c", "gcc -O1 -shared -fPIC -DNAME=second -o two.so lib.c", "gcc -O1 -o a dlopen.c -ldl"}, "./a", 0},
	{"code that is made", []string{"gcc -O1 -fno-omit-frame-pointer -o a jit.c"}, "./a", 0},
	{"code over a library", []string{"gcc -O1 -shared -fPIC -DNAME=first -o one.so lib.c", "gcc -O1 -shared -fPIC -DNAME=second -o two.so lib.c", "gcc -O1 -o a over.c -ldl"}, "./a", 0},
	{"cgo", []string{"CGO_ENABLED=1 go build -o a ./cgocall"}, "./a", 0},
	{"cgo back", []string{"CGO_ENABLED=1 go build -o a ./cgoback"}, "./a", 0},
	{"deep recursion", []string{"go build -o a ./deep"}, "./a", 0},
	{"mutual recursion", []string{"go build -o a ./mutual"}, "./a", 0},
	{"generics", []string{"go build -o a ./generic"}, "./a", 0},
	{"closures", []string{"go build -o a ./closure"}, "./a", 0},
	{"assembly", []string{"go build -o a ./assembly"}, "./a", 0},
	{"stripped", []string{"go build -ldflags='-s -w' -o a ./spin"}, "./a", 1},
	{"position independent", []string{"go build -buildmode=pie -o a ./spin"}, "./a", 0},
	{"trimpath", []string{"go build -trimpath -o a ./spin"}, "./a", 0},
	{"not optimized", []string{"go build -gcflags=all='-N -l' -o a ./generic"}, "./a", 0},
	{"static functions of one name", []string{"gcc -O1 -o a static1.c static2.c"}, "./a", 0},
	{"C without frame pointers", []string{"gcc -O2 -fomit-frame-pointer -o a fork.c"}, "./a", 0},
	{"C++", []string{"g++ -O1 -o a names.cc"}, "./a", 0},
	{"threads of C", []string{"gcc -O1 -o a threads.c -lpthread"}, "./a", 0},
	{"many goroutines", []string{"go build -o a ./many"}, "./a", 0},
	{"another name", []string{"gcc -O1 -o a rename.c"}, "./a", 0},
	{"executable in memory", []string{"go build -o b ./spin", "gcc -O1 -o a memfd.c"}, "./a ./b", 1},
}

// where is the place of a sample: a function, and the file that has its code. Without a file
// it may be in any.
type where struct{ function, object string }

// TestTruthOfPerf records programs, and has perf sample the same runs.
func TestTruthOfPerf(t *testing.T) {
	dir := prepared(t, "perf", "gcc", "g++", "c++filt")
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			for _, b := range p.build {
				shell(t, dir, b)
			}
			shell(t, dir, "rm -f x.scope p.data; perf record -q -e task-clock -F 997 -g -o p.data -- ./scopeview record --counter task-clock:1ms -o x.scope -- "+p.run)
			compare(t, &p, ofPerf(t, dir), ofTrace(t, dir))
		})
	}
}

// prepared returns a directory with the sources of the programs and with scopeview.
func prepared(t *testing.T, tools ...string) (dir string) {
	t.Helper()
	if os.Getenv("SCOPEVIEW_TRUTH") == "" {
		t.Skip("takes minutes: make truth runs it")
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: make deps installs it", tool)
		}
	}
	dir = t.TempDir()
	sources, err := txtar.ParseFile("testdata/programs.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources.Files {
		path := filepath.Join(dir, f.Name)
		filetest.Write(t, path, f.Data)
	}
	tool := filepath.Join(dir, "scopeview")
	if out, err := exec.Command("go", "build", "-o", tool, "../../../cmd/scopeview").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func shell(t *testing.T, dir, command string) []byte {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, out, errs.Bytes())
	}
	return out
}

// ofPerf counts the samples in user mode by where they are, without those of scopeview itself.
func ofPerf(t *testing.T, dir string) map[where]float64 {
	t.Helper()
	out := shell(t, dir, "perf script -i p.data -F comm,ip,sym,dso 2>/dev/null")
	list := map[where]float64{}
	leaf, skip := false, false
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		switch {
		case line == "":
			leaf, skip = false, false
		case !strings.HasPrefix(line, "\t"):
			leaf, skip = true, strings.HasPrefix(line, "scopeview") || strings.HasPrefix(line, "perf")
		case leaf && !skip:
			leaf = false
			// "           401136 main.work (/tmp/x/a)"
			_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			at := strings.LastIndex(rest, " (")
			function, object := rest[:max(at, 0)], strings.TrimSuffix(rest[at+2:], ")")
			if strings.HasPrefix(object, "[kernel") || strings.HasPrefix(object, "[guest.kernel") {
				continue
			}
			list[where{goName(function), filepath.Base(strings.TrimSuffix(object, " (deleted)"))}]++
		}
	}
	return list
}

// instance matches the part of a generic function's name in symbol tables for which Go's own
// tables, and its profiles, have three dots.
var instance = regexp.MustCompile(`\[go\.shape\..*\]`)

// goName is a name of a symbol table as Go's tools show it.
func goName(symbol string) string {
	return instance.ReplaceAllString(strings.TrimSuffix(symbol, ".abi0"), "[...]")
}

// ofTrace has the CPU time in user mode by where it was. A function whose name is in several files
// comes with its file.
func ofTrace(t *testing.T, dir string) map[where]float64 { return column(t, dir, "exclusive_user") }

// column is a column of the functions.
func column(t *testing.T, dir, name string) map[where]float64 {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(shell(t, dir, "./scopeview profile x.scope --format csv -n 0 | c++filt -p"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], name)
	if at < 0 {
		t.Fatalf("no %s among %q", name, rows[0])
	}
	list := map[where]float64{}
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[at], 64)
		if err != nil {
			t.Fatal(err)
		}
		w := where{function: r[0]}
		if at := strings.LastIndex(r[0], " ("); at > 0 {
			w = where{r[0][:at], strings.TrimSuffix(r[0][at+2:], ")")}
		}
		list[w] += v
	}
	return list
}

func total(list map[where]float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum
}

// compare holds each function of more than some percent against what perf has.
func compare(t *testing.T, p *program, perf, ours map[where]float64) {
	t.Helper()
	all, mine := total(perf), total(ours)
	if all < 200 || mine == 0 {
		t.Fatalf("perf has %.0f samples, the trace %.0f ns", all, mine)
	}
	for _, w := range slices.SortedFunc(maps.Keys(perf), func(a, b where) int { return int(perf[b] - perf[a]) }) {
		share := perf[w] / all
		if share < 0.05 || w.function == "[unknown]" {
			break
		}
		got, ok := ours[w]
		want := share
		if !ok { // its name is in one file, or known by the files of its source: all of that name
			want = 0
			for x, n := range perf {
				if x.function == w.function {
					want += n / all
				}
			}
			for x, n := range ours {
				if x.function == w.function {
					got += n
				}
			}
		}
		tolerance := 0.03 + 4*math.Sqrt(share*(1-share)/all) + p.share
		if math.Abs(got/mine-want) > tolerance {
			t.Errorf("%s of %s has %.1f %%, by perf %.1f %% of %.0f samples", w.function, w.object, 100*got/mine, 100*want, all)
		}
	}
	// What we have, and perf has not.
	for w, v := range ours {
		known := slices.ContainsFunc(slices.Collect(maps.Keys(perf)), func(x where) bool { return x.function == w.function })
		if share := v / mine; share > 0.08+p.share && !known && !strings.HasPrefix(w.function, "<") {
			t.Errorf("%v has %.1f %%, and perf does not know it", w, 100*share)
		}
	}
	t.Logf("%.0f samples by perf, %.0f ms by us, in %d functions", all, mine/1e6, len(ours))
}
