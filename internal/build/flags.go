package build

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verb is a subcommand of the go command.
type Verb string

const (
	Run   Verb = "run"
	Build Verb = "build"
	Test  Verb = "test"
)

// Line is the parsed command line of go run, build or test.
type Line struct {
	Flags    []string // before the packages, and after them for test
	Packages []string // packages or files
	Rest     []string // arguments of the program; for test from -args on

	listed []string          // those of Flags that go list accepts too
	values map[string]string // values of Flags and GOFLAGS, the last of each name; "true" for one without a value
}

// Flags with a value in the next word. cmd/go defines them in work.AddBuildFlags, and those
// of test in its testflag.go.
var (
	buildValues = words("C p asmflags buildmode compiler coverpkg gccgoflags gcflags installsuffix ldflags mod modfile overlay pgo pkgdir tags toolexec covermode")
	buildBools  = words("a n race msan asan cover v work x json linkshared trimpath modcacherw buildvcs")
	testValues  = words("bench benchtime blockprofile blockprofilerate count coverprofile cpu cpuprofile fuzz fuzzminimizetime fuzztime list memprofile memprofilerate mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace vet exec o")
	runValues   = words("exec o")
	// notListed are the build flags that go list does not accept, or that have effects there.
	notListed = words("a n v work x json cover coverpkg covermode o exec")
)

func words(s string) []string { return strings.Fields(s) }

// Parse parses the arguments of go run, go build or go test, as that command would.
func Parse(verb Verb, args []string) (*Line, error) {
	l := &Line{values: map[string]string{}}
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case verb == Test && (a == "-args" || a == "--args"):
			l.Rest = args[i:]
			return l, nil
		case verb == Test && a == "--":
			return nil, errors.New("go test takes no -- here; put -args before the arguments of the test program")
		case a == "--":
			return l, l.named(verb, args[i+1:])
		case len(a) < 2 || a[0] != '-':
			if verb != Run {
				// The packages are contiguous; later words may be values of the test's flags.
				if len(l.Packages) > 0 && verb == Test {
					l.Flags = append(l.Flags, a)
					continue
				}
				for ; i < len(args) && !strings.HasPrefix(args[i], "-"); i++ {
					l.Packages = append(l.Packages, args[i])
				}
				i--
				continue
			}
			return l, l.named(verb, args[i:])
		default:
			n := l.flag(verb, args[i:])
			if n > len(args)-i {
				return nil, fmt.Errorf("%s needs a value: what go %s would say", a, verb)
			}
			i += n - 1
		}
	}
	return l, nil
}

// named adds the words after the flags: packages or files, and for run the program's
// arguments.
func (l *Line) named(verb Verb, args []string) error {
	if verb != Run {
		l.Packages = append(l.Packages, args...)
		return nil
	}
	n := 0
	for n < len(args) && strings.HasSuffix(args[n], ".go") {
		n++
	}
	if n == 0 && len(args) > 0 {
		if n = 1; strings.HasPrefix(args[0], "-") {
			return fmt.Errorf("go run: %s is not a package or file that can run", args[0])
		}
	}
	l.Packages, l.Rest = args[:n], args[n:]
	return nil
}

// defaults adds flags of GOFLAGS, unless the command line has them.
func (l *Line) defaults(flags []string) {
	given := maps.Clone(l.values)
	for _, f := range flags {
		name, value, with := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(f, "-"), "-"), "=")
		if _, ok := given[name]; ok {
			continue
		}
		if !with {
			value = "true"
		}
		l.values[name] = value
	}
}

// flag adds the flag at the start of args, and returns its number of words.
func (l *Line) flag(verb Verb, args []string) int {
	name, value, with := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[0], "-"), "-"), "=")
	name = strings.TrimPrefix(name, "test.")
	values := slices.Concat(buildValues, runValues)
	if verb == Test {
		values = slices.Concat(buildValues, testValues)
	}
	n := 1
	if !with && slices.Contains(values, name) {
		n = 2
		if len(args) > 1 {
			value = args[1]
		}
	} else if !with {
		value = "true"
	}
	l.values[name] = value
	words := args[:min(n, len(args))]
	l.Flags = append(l.Flags, words...)
	if !slices.Contains(notListed, name) && (slices.Contains(buildValues, name) || slices.Contains(buildBools, name)) {
		l.listed = append(l.listed, words...)
	}
	return n
}

// Value returns the last value of a flag, or "".
func (l *Line) Value(name string) string { return l.values[name] }

// True reports whether a boolean flag is set.
func (l *Line) True(name string) bool { return l.values[name] == "true" || l.values[name] == "1" }

// without returns the flags without those of a name, and their values.
func without(flags []string, name string) []string {
	var kept []string
	for i := 0; i < len(flags); i++ {
		n, _, with := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(flags[i], "-"), "-"), "=")
		if n == name && strings.HasPrefix(flags[i], "-") {
			if !with && (slices.Contains(buildValues, name) || slices.Contains(testValues, name)) {
				i++
			}
			continue
		}
		kept = append(kept, flags[i])
	}
	return kept
}
