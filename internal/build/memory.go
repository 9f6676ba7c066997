package build

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// calling makes the compiler insert a call before each load and store of a package. These
// are the race detector's flags, without its checks of unsafe conversions, which may crash a
// working program.
const calling = "-race -d=checkptr=0"

// perPackage is a value of -gcflags: flags for the matching packages.
type perPackage struct {
	flags string
	match func(x *listed) bool
}

// detected are the systems for which the compiler has the race detector's calls.
var detected = words("linux/amd64 linux/arm64 linux/ppc64le linux/s390x linux/loong64 freebsd/amd64 netbsd/amd64 darwin/amd64 darwin/arm64 windows/amd64")

// detecting rejects flags that insert other calls before loads and stores, and systems
// without support.
func detecting(l *Line, system string) error {
	if !slices.Contains(detected, system) {
		return fmt.Errorf("--memory uses the compiler's instrumentation for -race, which does not support %s", system)
	}
	for _, f := range []string{"race", "msan", "asan"} {
		if l.True(f) {
			return fmt.Errorf("--memory and -%s use the same instrumentation of the compiler: leave out one of them", f)
		}
	}
	return nil
}

// looked reports whether loads and stores of a traced package are reported. The recorder's
// are not, to avoid recursion.
func (m *maker) looked(x *listed) bool {
	return m.o.Memory && (!x.Standard || len(m.o.Trace) > 0)
}

// memory adds flags for the packages whose loads and stores are reported. The go command
// uses the last -gcflags that matches a package, so ours include those already given for it.
func (m *maker) memory(packages []*listed) error {
	if len(packages) == 0 {
		return errors.New("--memory: no package of this build is traced, so it observes no loads and stores; choose packages with --trace")
	}
	given := valuesOf(m.line.Flags, "gcflags")
	if len(given) == 0 {
		given = valuesOf(m.env.flags(), "gcflags")
	}
	var theirs []perPackage
	var flags []string
	for _, text := range given {
		p, err := m.perPackage(text)
		if err != nil {
			return err
		}
		theirs = append(theirs, p)
		flags = append(flags, "-gcflags="+text)
	}
	for _, x := range packages {
		has := calling
		for _, p := range slices.Backward(theirs) {
			if p.match(x) {
				has = strings.TrimSpace(has + " " + p.flags)
				break
			}
		}
		flags = append(flags, "-gcflags="+x.ImportPath+"="+has)
		if m.verb == Test && len(x.XTestGoFiles) > 0 && !x.DepOnly {
			flags = append(flags, "-gcflags="+x.ImportPath+"_test="+has)
		}
	}
	m.plan.Flags = append(flags, without(m.plan.Flags, "gcflags")...)
	return nil
}

// perPackage parses a value of -gcflags as the go command does: PATTERN=FLAGS, or FLAGS for
// the packages of the command line.
func (m *maker) perPackage(text string) (p perPackage, err error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "-") || text[0] == '\'' || text[0] == '"' {
		p.flags, p.match = text, func(x *listed) bool { return !x.DepOnly }
		return p, nil
	}
	name, flags, ok := strings.Cut(text, "=")
	if !ok {
		return p, fmt.Errorf("-gcflags=%s: the pattern has no flags; write PATTERN=FLAGS", text)
	}
	p.flags = strings.TrimSpace(flags)
	switch name = strings.TrimSpace(name); name {
	case "all":
		p.match = func(*listed) bool { return true }
	case "std", "cmd":
		p.match = func(x *listed) bool { return x.Standard }
	default:
		matches, err := matcher(m.o.Dir, []string{name})
		if err != nil {
			return p, fmt.Errorf("-gcflags=%s: %w", text, err)
		}
		p.match = matches
	}
	return p, nil
}

// valuesOf returns all values of a flag, in order.
func valuesOf(flags []string, name string) (values []string) {
	for i := 0; i < len(flags); i++ {
		if !strings.HasPrefix(flags[i], "-") {
			continue
		}
		n, value, with := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(flags[i], "-"), "-"), "=")
		if n != name {
			continue
		}
		if !with && i+1 < len(flags) {
			i++
			value = flags[i]
		}
		values = append(values, value)
	}
	return values
}
