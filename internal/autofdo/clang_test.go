package autofdo

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/pgo"
)

const program = `int hot(int);
int cold(int);
__attribute__((noinline)) int work(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (i & 1)
      sum += hot(i);
    else
      sum += cold(i);
  }
  return sum;
}
int leaf(int n) { return n * 3 + work(n); }
int main(int argc, char **argv) {
  return leaf(argc);
}
`

// TestClangTakesWhatWeWrite: the counts that Clang puts into its code are the profile's.
func TestClangTakesWhatWeWrite(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("needs clang (Debian's package clang): make deps installs it")
	}
	p := pgo.New(pgo.Samples)
	p.Prologues = true
	add := func(leaf, caller pgo.Location, weight int64) {
		t.Helper()
		if err := p.Add(leaf, caller, false, weight); err != nil {
			t.Fatal(err)
		}
	}
	inMain := pgo.Location{at("leaf", 13, 13), at("main", 14, 15)}
	add(pgo.Location{{Func: "work", Start: 3, Line: 3, Prologue: true}}, inMain, 41)
	add(pgo.Location{at("work", 3, 7)}, inMain, 9000)
	add(pgo.Location{at("work", 3, 9)}, inMain, 20)
	add(pgo.Location{{Func: "work", Start: 3, Line: 5, Disc: 2}}, inMain, 9020)
	add(pgo.Location{at("work", 3, 6)}, inMain, 9020)
	add(inMain, nil, 9500)
	add(pgo.Location{{Func: "main", Start: 14, Line: 14, Prologue: true}}, nil, 6)
	profile, notes := FromSamples(p)
	if !notes.Prologue || notes.NoName+notes.NoLine+notes.Wrapped+notes.NoTarget > 0 {
		t.Errorf("notes %+v", notes)
	}
	dir := t.TempDir()
	save(t, dir, "our.prof", written(t, profile))
	save(t, dir, "prog.c", program)
	cmd := exec.Command(clang, "-O2", "-gline-tables-only", "-fprofile-sample-use=our.prof", "-Rpass=inline|sample-profile", "-Wall", "-S", "-emit-llvm", "prog.c", "-o", "prog.ll")
	cmd.Dir = dir
	remarks, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(remarks), "warning") {
		t.Fatalf("clang: %v\n%s", err, remarks)
	}
	code := load(t, dir, "prog.ll")
	for function, heads := range map[string]string{"work": "42", "main": "7"} { // heads plus one
		m := regexp.MustCompile(`@` + function + `\([^\n]* !prof !(\d+)`).FindStringSubmatch(code)
		if m == nil || !strings.Contains(code, "!"+m[1]+` = !{!"function_entry_count", i64 `+heads+`}`) {
			t.Errorf("the entry count of %s is not %s:\n%s", function, heads, code)
		}
	}
	if !regexp.MustCompile(`!\{!"branch_weights", i32 (21, i32 9001|9001, i32 21)\}`).MatchString(code) {
		t.Errorf("the branch of work does not have the weights 9000 and 20:\n%s", code)
	}
	if !strings.Contains(string(remarks), "'leaf' inlined into 'main' to match profiling context") {
		t.Errorf("Clang did not inline leaf into main for the profile:\n%s", remarks)
	}
	t.Logf("%s", remarks)
}
