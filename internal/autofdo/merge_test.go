package autofdo

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// made returns a random profile, with all that a real one has.
func made(random *rand.Rand, functions int) *Profile {
	p := New()
	var fill func(f *Function, depth int)
	fill = func(f *Function, depth int) {
		for range random.IntN(5) {
			l := f.line(Loc{random.Uint32N(20), random.Uint32N(3)})
			l.Samples += random.Uint64N(1000)
			for range random.IntN(3) {
				l.target(fmt.Sprintf("main.(*T).M%d[go.shape.struct { A int }]", random.IntN(functions)), random.Uint64N(100), 1)
			}
		}
		for range random.IntN(3 - min(depth, 2)) {
			fill(f.inlined(Loc{random.Uint32N(20), 0}, fmt.Sprintf("f%d", random.IntN(functions))), depth+1)
		}
		f.Total = f.Sum()
	}
	for range functions {
		f := p.function(fmt.Sprintf("f%d", random.IntN(functions)))
		f.Head += random.Uint64N(50)
		fill(f, 0)
	}
	p.function("f0").line(Loc{1, 0}).Samples += 7
	return p
}

func TestMergeIsLLVMs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pairs := [][2]string{
		{"f:5:1\n 1: 5 a:3\n", "f:7:2\n 1: 3 a:4 b:1\n 2.1: 4\ng:1:1\n 1: 1\n"},
		{"f:5:1\n 1: 5\n 2: g:3\n  1: 3\n", "f:7:2\n 1: 3\n 2: g:4\n  1: 4\n 2: h:4\n  1: 4\n"},
		{"f:18446744073709551610:1\n 1: 18446744073709551610 a:9223372036854775808\n", "f:7:2\n 1: 7 a:9223372036854775807\n"},
		{"f:5:1\n 1: 5\n !CFGChecksum: 7\n !Attributes: 1\n", "f:7:2\n 1: 3\n !CFGChecksum: 7\n !Attributes: 2\ng:1:1\n !CFGChecksum: 9\n !Attributes: 3\n"},
		{"f:5:1\n 1: 5\n 2: g:1\n  !CFGChecksum: 1\n !CFGChecksum: 7\n", "f:7:2\n 1: 3\n 2: g:1\n  !CFGChecksum: 2\n !CFGChecksum: 7\n"},
		{"f:5:1\n 1: 5\n !CFGChecksum: 7\n", "f:7:2\n 1: 3\n !CFGChecksum: 8\ng:1:1\n !CFGChecksum: 9\n"},
		{"[a:3 @ f]:5:1\n 1: 5\n", "[a:3 @ f]:7:2\n 1: 7\n[f]:1:1\n"},
		{"f:5:1\n 1: 5\n", "f:7:2\n 1: 3\n"},
	}
	for range 6 {
		pairs = append(pairs, [2]string{written(t, made(random, 8)), written(t, made(random, 8))})
	}
	saturating, dropping := 0, 0
	for i, pair := range pairs {
		weights := [2]uint64{1 + random.Uint64N(3), 1 + random.Uint64N(1000)}
		if i == len(pairs)-1 {
			weights[1] = 1<<64 - 1
		}
		dir := t.TempDir()
		sum := New()
		args := []string{"merge", "--sample", "--text", "-o", "OUT"}
		full, dropped := 0, 0
		for k, text := range pair {
			name := "in" + strconv.Itoa(k)
			save(t, dir, name, text)
			args = append(args, fmt.Sprintf("-weighted-input=%d,%s", weights[k], name))
			m, err := Merge(sum, strict(t, text), weights[k])
			if err != nil {
				t.Fatal(err)
			}
			full, dropped = full+m.Saturated, dropped+len(m.Dropped)
		}
		if full > 0 {
			saturating++
		}
		if dropped > 0 {
			dropping++
		}
		out, ok := profdata(t, dir, args...)
		if !ok {
			t.Fatal(out)
		}
		if got, want := written(t, sum), load(t, dir, "OUT"); got != want {
			t.Errorf("%d, weights %d:\n%s\nllvm-profdata:\n%s", i, weights, got, want)
		}
		if warned := strings.Contains(out, "ounter overflow"); warned != (full > 0) {
			t.Errorf("%d: %d counts saturated; llvm-profdata: %s", i, full, out)
		}
		if warned := strings.Contains(out, "ash mismatch") || strings.Contains(out, "hash check"); warned != (dropped > 0) {
			t.Errorf("%d: %d functions dropped; llvm-profdata: %s", i, dropped, out)
		}
	}
	if saturating != 2 || dropping != 2 {
		t.Errorf("%d merges saturate and %d drop functions; 2 of each should", saturating, dropping)
	}
}

func TestKindsDoNotMix(t *testing.T) {
	kinds := []string{"f:5:1\n 1: 5\n", "[a:3 @ f]:5:1\n 1: 5\n", "f:5:1\n 1: 5\n !CFGChecksum: 7\n"}
	for i, a := range kinds {
		for k, b := range kinds {
			dir := t.TempDir()
			save(t, dir, "a", a)
			save(t, dir, "b", b)
			_, ok := profdata(t, dir, "merge", "--sample", "--text", "a", "b", "-o", "OUT")
			_, err := Merge(strict(t, a), strict(t, b), 1)
			_, err2 := Overlap(strict(t, a), strict(t, b))
			if ok != (i == k) || errors.Is(err, ErrKinds) == ok || errors.Is(err2, ErrKinds) == ok {
				t.Errorf("%q and %q: %v, %v; llvm-profdata merges: %v", a, b, err, err2, ok)
			}
		}
	}
}

var spaces = regexp.MustCompile(`  +`)

func TestOverlapIsLLVMs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pairs := [][2]string{
		{"f:5:1\n 1: 5\n", "f:5:1\n 1: 5\n"},
		{"f:5:1\n 1: 5\n", "g:5:1\n 1: 5\n"},
		{"f:5:1\n 1: 5\ng:7:1\n 1: 7\n", "f:5:1\n 1: 3\n 2: 2\nh:1:1\n 1: 1\n"},
		{"f:10:1\n 1: 5\n 2: g:5\n  1: 5\n", "f:12:1\n 1: 5\n 2: h:5\n  1: 5\n 3: 2\n"},
		{"[a:3 @ f]:5:1\n 1: 5\n", "[a:3 @ f]:7:2\n 1: 3\n 2: 4\n[f]:1:1\n 1: 1\n"},
	}
	for range 8 {
		pairs = append(pairs, [2]string{written(t, made(random, 6)), written(t, made(random, 6))})
	}
	for i, pair := range pairs {
		dir := t.TempDir()
		save(t, dir, "a", pair[0])
		save(t, dir, "b", pair[1])
		out, ok := profdata(t, dir, "overlap", "--sample", "--value-cutoff=0", "a", "b")
		if !ok {
			t.Fatal(out)
		}
		s, err := Overlap(strict(t, pair[0]), strict(t, pair[1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range printed(s) {
			if !strings.Contains(spaces.ReplaceAllString(out, " "), want+"\n") {
				t.Errorf("%d: llvm-profdata does not print %q:\n%s", i, want, out)
			}
		}
	}
}

// printed returns the lines of llvm-profdata overlap.
func printed(s *Similarity) []string {
	lines := []string{
		fmt.Sprintf("Whole program profile similarity: %.3f%%", s.Percent),
		fmt.Sprintf("Whole program sample overlap: %.3f%%", s.Samples.Percent()),
		fmt.Sprintf("percentage of samples unique in base profile: %.3f%%", percent(s.Samples.BaseOnly, s.Samples.Base)),
		fmt.Sprintf("percentage of samples unique in test profile: %.3f%%", percent(s.Samples.TestOnly, s.Samples.Test)),
		fmt.Sprintf("total samples in base profile: %d", s.Samples.Base),
		fmt.Sprintf("total samples in test profile: %d", s.Samples.Test),
		fmt.Sprintf("Function overlap: %.3f%%", s.Functions.Percent()),
		fmt.Sprintf("overlap functions: %d", s.Functions.Common),
		fmt.Sprintf("functions unique in base profile: %d", s.Functions.BaseOnly),
		fmt.Sprintf("functions unique in test profile: %d", s.Functions.TestOnly),
	}
	for _, f := range s.Of {
		if f.Samples.TestOnly+f.Samples.Test == 0 {
			continue // llvm-profdata lists the functions of test
		}
		lines = append(lines, fmt.Sprintf("%.2f%% %.2f%% %.2f%% %.2f%% %.2f%% %.2f%% %d %d %s", f.BaseWeight, f.TestWeight, f.Percent, f.Samples.Percent(),
			percent(f.Samples.BaseOnly, f.Samples.Base), percent(f.Samples.TestOnly, f.Samples.Test), f.Samples.Base, f.Samples.Test, strings.Trim(f.Name, "[]")))
	}
	return lines
}

func TestOverlapOfNothing(t *testing.T) {
	if _, err := Overlap(strict(t, "f:5:1\n 1: 5\n"), strict(t, "f:5:1\n")); !errors.Is(err, ErrNoSamples) {
		t.Errorf("got %v", err)
	}
}

// TestOverlapOverflows: counts whose sum overflows are refused, and no share is computed from the
// remainder.
func TestOverlapOverflows(t *testing.T) {
	const most = "18446744073709551615"
	for _, c := range []struct {
		base, test string
		refused    bool
	}{
		{"f:5:1\n 1: " + most + "\n 2: 2\n", "f:5:1\n 1: 5\n", true},
		{"f:5:1\n 1: 5\n", "f:5:1\n 1: " + most + "\n 2: 2\n", true},
		{"f:5:1\n 1: 5\n 2: g:9\n  1: " + most + "\n", "f:5:1\n 1: 5\n", true},
		{"f:5:1\n 1: 5\n", "f:5:1\n 1: 5\ng:7:1\n 1: " + most + "\n", true},
		{"f:5:1\n 1: 9223372036854775807\n", "g:5:1\n 1: 9223372036854775807\n", false},
	} {
		s, err := Overlap(strict(t, c.base), strict(t, c.test))
		if errors.Is(err, ErrOverflow) != c.refused {
			t.Errorf("%q and %q: %v", c.base, c.test, err)
		}
		if err == nil && (s.Percent < 0 || s.Percent > 100 || s.Samples.Percent() > 100) {
			t.Errorf("%q and %q: %+v", c.base, c.test, s)
		}
	}
}
