package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/advice"
	"github.com/scopeview/scopeview/internal/build"
	"github.com/scopeview/scopeview/internal/build/std"
	"github.com/scopeview/scopeview/internal/show"
)

// maxAdvice is the number of pieces of advice printed at the end of a run.
const maxAdvice = 3

// groups checks the groups of diagnostics in the flags.
func (l *launch) groups() error {
	for _, g := range l.options.Advise {
		if g != "all" && !slices.Contains(std.Groups, g) {
			return usagef("--advise=%s: no such group; want %s or all", g, strings.Join(std.Groups, ", "))
		}
	}
	if l.options.Memory {
		l.options.Advise = append(l.options.Advise, std.Multithreaded, std.Locality)
	}
	if slices.Contains(l.options.Advise, "all") {
		l.options.Advise = slices.Clone(std.Groups)
	}
	slices.Sort(l.options.Advise)
	l.options.Advise = slices.Compact(l.options.Advise)
	return nil
}

// adviseVariables returns the environment variables that make the program count, and leave raw
// files in dir.
func (l *launch) adviseVariables(dir string) (env []string) {
	if len(l.options.Advise) == 0 || os.Getenv("SCOPEVIEW_ADVISE") != "" {
		return nil
	}
	env = append(env, "SCOPEVIEW_ADVISE="+dir+string(filepath.Separator), "SCOPEVIEW_ADVISE_RUN="+l.tag())
	if _, err := l.advise.params(l.cmd, l.adviseRoot(dir)+".conf"); err != nil {
		return env // printAdvice reports the error
	}
	for name, value := range l.advise.counted {
		if v := variable + strings.ToUpper(name); os.Getenv(v) == "" {
			env = append(env, v+"="+value)
		}
	}
	return env
}

// tag distinguishes the raw files of this run from those of others that end meanwhile.
func (l *launch) tag() string { return strconv.Itoa(os.Getpid()) }

// ofThisRun reports whether a program of this run has left a raw file.
func (l *launch) ofThisRun(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n') // the run's head
	return strings.Contains(line, "\trun="+l.tag()+"\t")
}

// adviseRoot returns the path of the files of advice, without their endings.
func (l *launch) adviseRoot(dir string) string {
	if l.root != "" {
		return l.root
	}
	return filepath.Join(dir, "scope-profile")
}

// rawsIn lists the raw files in a directory.
func rawsIn(dir string) []string {
	list, err := filepath.Glob(filepath.Join(dir, "*.raw"))
	if err != nil {
		return nil // the pattern is valid
	}
	return list
}

// printAdvice writes the advice on the counts of a run's programs, and prints the first pieces.
// before are the raw files that existed before.
func (l *launch) printAdvice(dir string, before []string) {
	if len(l.options.Advise) == 0 || os.Getenv("SCOPEVIEW_ADVISE") != "" {
		return // the user who set the variable reads it
	}
	made := slices.DeleteFunc(rawsIn(dir), func(path string) bool { return slices.Contains(before, path) || !l.ofThisRun(path) })
	root := l.adviseRoot(dir)
	made = slices.DeleteFunc(made, func(path string) bool { return path == root+".raw" })
	if len(made) == 0 {
		if l.verb == build.Run {
			fmt.Fprintln(l.s.err, "scopeview: no advice: the program counted nothing")
		}
		return
	}
	p, err := l.advise.params(l.cmd, root+".conf")
	var r *advice.Report
	cwd, _ := os.Getwd() // without it paths are absolute
	if err == nil {
		r, err = profileFiles(root, made, p, cwd)
	}
	if err != nil {
		fmt.Fprintf(l.s.err, "scopeview: advise: %s\n", show.Text(err.Error()))
		return
	}
	for _, raw := range made {
		if _, err := os.Stat(strings.TrimSuffix(raw, ".raw") + extension); err != nil {
			os.Remove(raw) // its trace is not kept, and its contents are in the root's file
		}
	}
	for i := range r.Findings[:min(maxAdvice, len(r.Findings))] {
		f := &r.Findings[i]
		fmt.Fprintf(l.s.err, "scopeview: %s: %s: %s; saves %s\n", advice.Place(f.Site, cwd), f.ID, show.Text(f.Advice), f.Saves())
	}
	if len(r.Findings) == 0 {
		fmt.Fprintln(l.s.err, "scopeview: no advice: no change would save enough")
	}
	fmt.Fprintf(l.s.err, "scopeview: %s\n", show.Name(root+".txt"))
}
