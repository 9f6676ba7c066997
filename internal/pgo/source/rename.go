package source

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
)

// Pair is a renaming of a function, a type or a package.
type Pair struct{ Old, New string }

// ErrNoMatch reports that a profile has nothing with the old name.
var ErrNoMatch = errors.New("the profile has no function, type or package of that name")

// Rename returns p with other names, and how many functions each pair renamed. A name is that of a
// function as the linker has it (pkg.F, pkg.(*T).M), of a type (pkg.T, pkg.(*T)) or an import path.
// Everything inside it is renamed too: closures, methods, packages below, and type arguments. Of
// several pairs that match a name the first counts. The error wraps ErrNoMatch, or is
// pgo.ErrOverflow.
func Rename(p *pgo.Profile, pairs []Pair) (*pgo.Profile, []int, error) {
	counts := make([]int, len(pairs))
	names := map[string]string{}
	out := p.Empty()
	location := func(i int32) pgo.Location {
		list := slices.Clone(p.Locations[i])
		for k := range list {
			old := list[k].Func
			if _, ok := names[old]; !ok {
				names[old] = renamed(old, pairs, counts)
			}
			list[k].Func = names[old]
		}
		return list
	}
	for _, pair := range p.Pairs() {
		var caller pgo.Location
		if pair.Caller != pgo.None {
			caller = location(pair.Caller)
		}
		if err := out.Add(location(pair.Leaf), caller, pair.Same, p.Weight[pair]); err != nil {
			return nil, nil, err
		}
	}
	for i, n := range counts {
		if n == 0 {
			return nil, nil, fmt.Errorf("%s=%s: %w; show lists its names", pairs[i].Old, pairs[i].New, ErrNoMatch)
		}
	}
	return out, counts, nil
}

func renamed(name string, pairs []Pair, counts []int) string {
	var b strings.Builder
	from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']') // of the type arguments
	counted := map[int]bool{}
	for at := 0; at < len(name); {
		inside := at > from && from >= 0 && at < to
		i, old, now := -1, 0, ""
		if at == 0 || inside && strings.IndexByte(delimiters, name[at-1]) >= 0 {
			i, old, now = match(name[at:], pairs, inside)
		}
		if i < 0 {
			b.WriteByte(name[at])
			at++
			continue
		}
		if !counted[i] {
			counts[i]++
			counted[i] = true
		}
		b.WriteString(now)
		at += old
	}
	return b.String()
}

// delimiters separate the names in type arguments.
const delimiters = "[](){}*,; \"."

// ends matches what can follow the name of a function, a type or a package: the names inside it.
// After a dot a path can't continue.
var ends = regexp.MustCompile(`^($|/|\[|\.[^/\[\](){}*,; "]*($|[\[\](){}*,; "])|-(fm|wrap|range)\d*($|[.-]))`)

// match returns the index of the pair that renames the beginning of the text, the length of the old
// name, and the new name; the index is -1 if there is none.
func match(text string, pairs []Pair, inside bool) (i, old int, now string) {
	for i, p := range pairs {
		for _, try := range []Pair{p, {linkPath(p.Old), linkPath(p.New)}} {
			rest, ok := strings.CutPrefix(text, try.Old)
			if ok && try.Old != "" && (ends.MatchString(rest) || inside && strings.ContainsRune("](){},; ", rune(rest[0]))) {
				return i, len(try.Old), try.New
			}
		}
	}
	return -1, 0, ""
}
