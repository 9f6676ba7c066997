package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
)

// TestHistory measures Check and Salvage on the history of a repository. Its variables:
//
//	SCOPEVIEW_HISTORY        a clone of it; if it is not set the test is skipped
//	SCOPEVIEW_HISTORY_RANGES number of ranges of 50 commits, the newest first; default 4
//	SCOPEVIEW_HISTORY_NEWEST the last commit of the newest range; default HEAD
//
// At the first commit of a range the benchmarks make a profile. At every tenth commit of the
// range it is checked and salvaged. Edges found at the first commit and not any more are lost;
// those of them that are found after Salvage are recovered. At the last commit the compiler
// compiles the module's packages and lists its calls: an edge that Salvage changed and that is
// not among them is invented.
func TestHistory(t *testing.T) {
	dir := os.Getenv("SCOPEVIEW_HISTORY")
	if dir == "" {
		t.Skip("SCOPEVIEW_HISTORY names no clone of a repository")
	}
	h := &history{t: t, dir: filepath.Join(t.TempDir(), "clone")}
	h.run("", "git", "clone", "-q", "--shared", "--no-checkout", dir, h.dir)
	h.run(h.dir, "git", "sparse-checkout", "set", "--no-cone", "/*", "!*.zip") // large files may be missing in a clone
	ranges := 4
	if n, err := strconv.Atoi(os.Getenv("SCOPEVIEW_HISTORY_RANGES")); err == nil {
		ranges = n
	}
	newest := os.Getenv("SCOPEVIEW_HISTORY_NEWEST")
	if newest == "" {
		newest = "HEAD"
	}
	commits := strings.Fields(h.run(h.dir, "git", "log", "--first-parent", "--format=%h", newest))
	fmt.Println("| profile of | checked at | commits | days | found then | found now | after salvage | recovered of lost | invented |\n|---|---|---|---|---|---|---|---|---|")
	for i := range ranges {
		if end := i*50 + 50; end < len(commits) {
			h.quarter(commits[i*50 : end+1])
		}
	}
	if h.lost > 0 {
		fmt.Printf("\nover all ranges: %.1f %% of the lost weight recovered; %d edges changed, %d confirmed, %d invented\n", 100*h.recovered/h.lost, h.changed, h.confirmed, h.invented)
	}
}

type history struct {
	t                            *testing.T
	dir                          string
	lost, recovered              float64 // in shares of a profile
	changed, confirmed, invented int
}

func (h *history) run(dir, name string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.t.Fatalf("%s %s: %v\n%s", name, args, err, errs.String())
	}
	return string(out)
}

func (h *history) checkout(commit string) (unix int) {
	h.run(h.dir, "git", "-c", "advice.detachedHead=false", "checkout", "-q", "-f", commit)
	unix, _ = strconv.Atoi(strings.TrimSpace(h.run(h.dir, "git", "log", "-1", "--format=%ct")))
	return unix
}

// quarter measures a range of commits, the newest first.
func (h *history) quarter(commits []string) {
	old := commits[len(commits)-1]
	born := h.checkout(old)
	p := h.profile()
	edges, err := p.Edges()
	if err != nil || len(edges.Weight) == 0 {
		fmt.Printf("| %s | no profile: no benchmark runs | | | | | | | |\n", old)
		return
	}
	found := map[pgo.Edge]bool{}
	var then, all int64
	s := h.load(p)
	for e, w := range edges.Weight {
		why := s.Reason(e)
		if found[e] = why.Found(); found[e] {
			then += w
		}
		if !why.Never() {
			all += w
		}
	}
	for age := 10; age < len(commits); age += 10 {
		commit := commits[len(commits)-1-age]
		days := (h.checkout(commit) - born) / 86400
		s := h.load(p)
		r, err := s.Salvage(p)
		if err != nil {
			h.t.Errorf("%s: %v", commit, err)
			continue
		}
		lost, back := lost(s, edges, found)
		recovered, invented := "nothing lost", ""
		if lost > 0 {
			recovered = fmt.Sprintf("%.1f %%", 100*float64(back)/float64(lost))
		}
		if age+10 >= len(commits) {
			h.lost += float64(lost) / float64(all)
			h.recovered += float64(back) / float64(all)
			invented = strconv.Itoa(h.truth(s, edges, r))
		}
		share := func(w int64) float64 { return 100 * float64(w) / float64(all) }
		fmt.Printf("| %s | %s | %d | %d | %.1f %% | %.1f %% | %.1f %% | %s | %s |\n", old, commit, age, days, share(then), share(then-lost), share(then-lost+back), recovered, invented)
		if os.Getenv("SCOPEVIEW_HISTORY_VERBOSE") != "" && age+10 >= len(commits) {
			h.explain(s, r, found)
		}
	}
}

// lost returns the weight of the edges that were found and are not any more, and how much of it
// Salvage moves to where it is found.
func lost(s *Source, edges *pgo.Edges, found map[pgo.Edge]bool) (lost, back int64) {
	v := newSalvager(s, edges)
	v.matchFunctions()
	v.matchClosures()
	moves, _ := v.moves()
	for e, w := range edges.Weight {
		if !found[e] || s.Reason(e).Found() {
			continue
		}
		lost += w
		if _, moved := moves[e]; moved {
			back += w
		}
	}
	return lost, back
}

// explain prints the edges that were not salvaged.
func (h *history) explain(s *Source, r *Salvaged, found map[pgo.Edge]bool) {
	edges, _ := r.Profile.Edges()
	for _, e := range edges.Sorted() {
		if why := s.Reason(e); found[e] && !why.Found() {
			fmt.Printf("    %d %s:%d -> %s: %s\n", edges.Weight[e], e.Caller, e.Offset, e.Callee, why)
		}
	}
	for _, n := range r.Renamed {
		fmt.Printf("    renamed %d %s=%s\n", n.Weight, n.Old, n.New)
	}
	for _, f := range s.Failures {
		fmt.Printf("    does not load: %s: %v\n", f.Package, f.Err)
	}
}

// profile returns a profile of the benchmarks of all packages.
func (h *history) profile() *pgo.Profile {
	sum := pgo.New(pgo.Samples)
	out, _ := exec.Command("go", "version").Output()
	h.t.Logf("%s", out)
	for _, pkg := range strings.Fields(h.run(h.dir, "go", "list", "-e", "-f", "{{if .TestGoFiles}}{{.Dir}}{{else if .XTestGoFiles}}{{.Dir}}{{end}}", "./...")) {
		file := filepath.Join(h.t.TempDir(), "cpu")
		cmd := exec.Command("go", "test", "-run=^$", "-bench=.", "-benchtime=150ms", "-timeout=240s", "-cpuprofile="+file, "-o="+filepath.Join(h.t.TempDir(), "test"), ".")
		cmd.Dir = pkg
		if err := cmd.Run(); err != nil {
			continue // it gives no profile
		}
		f, err := os.Open(file)
		if err != nil {
			continue
		}
		q, err := pgo.Read(f)
		f.Close()
		if err != nil {
			h.t.Fatal(err)
		}
		for _, pair := range q.Pairs() {
			var caller pgo.Location
			if pair.Caller != pgo.None {
				caller = q.Locations[pair.Caller]
			}
			if err := sum.Add(q.Locations[pair.Leaf], caller, pair.Same, q.Weight[pair]); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	return sum
}

func (h *history) load(p *pgo.Profile) *Source {
	h.t.Helper()
	s, err := Load(context.Background(), Config{Dir: h.dir, Patterns: []string{"./..."}, Names: names(p), Module: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func names(p *pgo.Profile) []string {
	seen := map[string]bool{}
	var list []string
	for _, location := range p.Locations {
		for _, f := range location {
			if !seen[f.Func] {
				seen[f.Func] = true
				list = append(list, f.Func)
			}
		}
	}
	return list
}

// truth counts the edges that Salvage changed and that the compiler does not have.
func (h *history) truth(s *Source, before *pgo.Edges, r *Salvaged) int {
	after, err := r.Profile.Edges()
	if err != nil {
		h.t.Fatal(err)
	}
	changed := map[pgo.Edge]bool{}
	pkgs := map[string]bool{}
	for e := range after.Weight {
		if _, had := before.Weight[e]; !had {
			changed[e] = true
			pkg, _ := split(fold(e.Caller))
			pkgs[pkg] = true
		}
	}
	invented := 0
	for pkg := range pkgs {
		c, err := h.compile(s.pkgs[pkg], r.Profile)
		if err != nil {
			h.t.Logf("not compiled: %v", err)
			continue
		}
		for e := range changed {
			if p, _ := split(fold(e.Caller)); p != pkg {
				continue
			}
			h.changed++
			if why := c.lacks(s, e, after); why != "" {
				invented++
				h.t.Errorf("invented: %v: %s", e, why)
			} else {
				h.confirmed++
			}
		}
	}
	h.invented += invented
	return invented
}

// compiled is the compiler's output for a package.
type compiled struct {
	direct   map[[2]string]bool // caller and callee
	stats    map[string][]stat  // by caller
	rejected map[string]bool    // edges that the compiler rejected for every call
	taken    map[string]bool
}

type stat struct {
	Pos, Caller       string
	Hottest           string // without weights: a callee of the line
	Direct, Interface bool
	Weight            int64
	line              int
}

// lacks returns why the compiler has no such edge, or "" if it has.
func (c *compiled) lacks(s *Source, e pgo.Edge, all *pgo.Edges) string {
	f := s.funcs[fold(e.Caller)]
	sum := int64(0)
	for other, w := range all.Weight {
		if other.Caller == e.Caller && other.Offset == e.Offset {
			sum += w
		}
	}
	why := fmt.Sprintf("no call in line %d", f.start+e.Offset)
	for _, st := range c.stats[e.Caller] {
		if st.line != f.start+e.Offset {
			continue
		}
		key := fmt.Sprintf("%s:%d -> %s", e.Caller, e.Offset, e.Callee)
		switch {
		case st.Direct && !c.direct[[2]string{e.Caller, e.Callee}]:
			why = "the direct calls have other callees"
		case !st.Direct && c.rejected[key] && !c.taken[key]:
			why = "the compiler says that the callee does not fit"
		case st.Weight != sum:
			why = fmt.Sprintf("weight %d, not %d", st.Weight, sum)
		default:
			return ""
		}
	}
	return why
}

var (
	dotEdge  = regexp.MustCompile(`^"(.*)" -> "(.*)" \[label=`)
	fitsNot  = regexp.MustCompile(`: edge (.* -> \S+) \(weight \d+\): (.*)$`)
	position = regexp.MustCompile(`:(\d+):\d+$`)
)

// compile compiles a package twice: with a profile that does not have it, which shows its
// direct calls, and with p.
func (h *history) compile(u *unit, p *pgo.Profile) (*compiled, error) {
	if u == nil {
		return nil, fmt.Errorf("no package")
	}
	dir := h.t.TempDir()
	cfg := h.run(h.dir, "go", "list", "-test", "-export", "-deps", "-f", "{{range $a, $b := .ImportMap}}importmap {{$a}}={{$b}}\n{{end}}{{if .Export}}packagefile {{.ImportPath}}={{.Export}}{{end}}", strings.TrimSuffix(u.list.PkgPath, "_test"))
	if err := os.WriteFile(filepath.Join(dir, "cfg"), []byte(cfg), 0o644); err != nil {
		return nil, err
	}
	other := otherProgram(h.t)
	c := &compiled{map[[2]string]bool{}, map[string][]stat{}, map[string]bool{}, map[string]bool{}}
	for i, q := range []*pgo.Profile{other, p} {
		var b bytes.Buffer
		if err := q.Write(&b); err != nil {
			return nil, err
		}
		file := filepath.Join(dir, "pgo"+strconv.Itoa(i))
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		args := []string{"tool", "compile", "-p", u.path, "-importcfg", filepath.Join(dir, "cfg"), "-pgoprofile", file, "-std=" + strconv.FormatBool(u.std), "-d=pgodebug=3", "-o", filepath.Join(dir, "o")}
		out, err := exec.Command("go", append(args, u.list.GoFiles...)...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s: %v: %.2000s", u.path, err, out[max(0, len(out)-2000):])
		}
		c.read(out, i == 0)
	}
	return c, nil
}

// otherProgram returns a profile without edges of any real package.
func otherProgram(t *testing.T) *pgo.Profile {
	p := pgo.New(pgo.Samples)
	if err := p.Add(pgo.Location{{Func: "x.G", Start: 1, Line: 2}}, pgo.Location{{Func: "x.F", Start: 1, Line: 2}}, false, 1); err != nil {
		t.Fatal(err)
	}
	return p
}

func (c *compiled) read(out []byte, graph bool) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		text := lines.Text()
		if m := dotEdge.FindStringSubmatch(text); m != nil && graph {
			c.direct[[2]string{m[1], m[2]}] = true
		}
		if graph {
			continue
		}
		if m := fitsNot.FindStringSubmatch(text); m != nil {
			switch {
			case strings.HasPrefix(m[2], "hottest so far"), strings.HasPrefix(m[2], "too cold"):
				c.taken[m[1]] = true
			default:
				c.rejected[m[1]] = true
			}
		}
		var st stat
		if strings.HasPrefix(text, `{"Pkg"`) && json.Unmarshal([]byte(text), &st) == nil {
			if m := position.FindStringSubmatch(st.Pos); m != nil {
				st.line, _ = strconv.Atoi(m[1])
			}
			c.stats[st.Caller] = append(c.stats[st.Caller], st)
		}
	}
	for _, list := range c.stats {
		slices.SortFunc(list, func(a, b stat) int { return a.line - b.line })
	}
}
