package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scopeview/scopeview/internal/analysis"
	"github.com/scopeview/scopeview/internal/autofdo"
	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/gowire"
	"github.com/scopeview/scopeview/internal/perfdata"
	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/report/annotate"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
)

// profileInput reads a PROFILE.
type profileInput struct {
	*call
	binary string // the executable that ran; "": its recorded path
	event  string // of a perf.data; "": the first
	ran    string // the executable of a perf.data to read; "": the one with the most samples
}

// input is a PROFILE that was read.
type input struct {
	name     string
	samples  *pgo.Profile
	branches *perfdata.Branches // of a perf.data with branch records; nil: it has none
	text     *autofdo.Profile   // of a text profile; nil: another format
}

// magics are the first bytes of files that are neither traces nor in pprof's format.
var (
	perfMagics = []string{"PERFILE2", "2ELIFREP", "PERFFILE"}
	preMagic   = "GO PREPROFILE V1\n"
)

// read reads one PROFILE, and prints notes about it on standard error.
func (in *profileInput) read(ctx context.Context, arg string) (*input, error) {
	x, notes, err := in.readQuietly(ctx, arg)
	if err != nil {
		return nil, err
	}
	in.say(x, notes)
	return x, nil
}

func (in *profileInput) say(x *input, notes []string) {
	in.lost = in.lost || x != nil && x.samples != nil && len(x.samples.Losses) > 0
	for _, note := range notes {
		fmt.Fprintf(in.s.err, "scopeview: %s\n", show.Text(note))
	}
}

// of prefixes notes with the name of their profile.
func (x *input) of(notes ...string) []string {
	for i := range notes {
		notes[i] = x.name + ": " + notes[i]
	}
	return notes
}

// readQuietly returns the notes instead of printing them, as sentences that name their file.
func (in *profileInput) readQuietly(ctx context.Context, arg string) (*input, []string, error) {
	x := &input{name: arg}
	st, err := os.Stat(arg)
	if _, number := strconv.Atoi(arg); errors.Is(err, fs.ErrNotExist) && number != nil && !isAddress(arg) {
		return nil, nil, fmt.Errorf("opening the profile: %w", err)
	}
	if err != nil || st.IsDir() {
		return in.ofTrace(ctx, x, arg) // the newest of a directory; the one that a process writes
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the profile: %w", err)
	}
	defer f.Close()
	b := bufio.NewReaderSize(f, 64<<10)
	head, _ := b.Peek(4096)
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case has(format.Magic):
		return in.ofTrace(ctx, x, arg)
	case slices.ContainsFunc(perfMagics, has):
		var notes []string
		x.samples, x.branches, notes, err = perfdata.Profile(ctx, arg, perfdata.Options{Event: in.event, Executable: in.ran, Binary: in.binary})
		return x, x.of(notes...), err
	case has(preMagic):
		return nil, nil, fmt.Errorf("%s is the output of go tool preprofile: give its input profile", show.Name(arg))
	case gowire.Begins(head):
		return in.ofGoTrace(ctx, x, b)
	case autofdo.Binary(head) != "":
		return nil, nil, fmt.Errorf("%s: %s", show.Name(arg), autofdo.Binary(head))
	case has("\x7fELF"):
		return nil, nil, fmt.Errorf("%s is a program, not a profile: collect one with scopeview pgo collect -- %s", show.Name(arg), show.Name(arg))
	case isText(head):
		return ofText(x, b)
	}
	x.samples, err = pgo.ReadExecutable(untilDoneReader{ctx, b}, in.ran)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(arg), nameOne(err))
	}
	return x, nil, nil
}

// isText reports whether head begins a text.
func isText(head []byte) bool {
	if len(head) == 0 || bytes.IndexByte(head, 0) >= 0 || !bytes.ContainsAny(head, ":\n") {
		return false
	}
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return utf8.Valid(head[:max(len(head)-utf8.UTFMax, 0)])
}

// untilDoneReader is a reader that fails once its context is done.
type untilDoneReader struct {
	ctx context.Context
	io.Reader
}

func (u untilDoneReader) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// ofText reads a text profile.
func ofText(x *input, r io.Reader) (*input, []string, error) {
	p, warnings, err := autofdo.Read(r, x.name, false)
	if err != nil {
		return nil, nil, err
	}
	x.text = p
	if x.samples, err = autofdo.ToSamples(p); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(x.name), err)
	}
	var notes []string
	for _, w := range warnings {
		notes = append(notes, w.In(x.name))
	}
	x.samples.Losses = notes
	return x, notes, nil
}

// ofTrace reads the CPU time of a recording.
func (in *profileInput) ofTrace(ctx context.Context, x *input, arg string) (*input, []string, error) {
	t, where, err := openTrace(ctx, arg)
	if err != nil {
		return nil, nil, err
	}
	defer t.Close()
	p, err := samples.OfTrace(ctx, t, &samples.Selection{Selection: &analysis.Selection{}})
	switch {
	case errors.Is(err, samples.ErrNone) && t.Lookup("gotrace") != "":
		return nil, nil, noGoTrace(t, where)
	case err != nil:
		for _, problem := range analysis.Damage(t.Problems()) { // which may be the reason
			fmt.Fprintf(in.s.err, "scopeview: %s: %s\n", show.Name(where), analysis.ProblemText(&problem))
		}
		return nil, nil, fmt.Errorf("%s: %w", show.Name(where), err)
	}
	c := &annotate.Code{}
	c.UseStored(t)
	x, notes, err := in.ofSamples(x, p, c)
	if err != nil {
		return nil, nil, err
	}
	if line := analysis.LossLine(t); line != "" {
		x.samples.Losses = append(x.samples.Losses, line)
	}
	for _, problem := range analysis.Damage(t.Problems()) {
		x.samples.Losses = append(x.samples.Losses, analysis.ProblemText(&problem))
	}
	return x, append(notes, x.of(slices.Clone(x.samples.Losses)...)...), nil
}

func (in *profileInput) ofGoTrace(ctx context.Context, x *input, r io.Reader) (*input, []string, error) {
	p, err := samples.OfGoTrace(ctx, r, &samples.Selection{Selection: &analysis.Selection{}})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(x.name), err)
	}
	x, notes, err := in.ofSamples(x, p, &annotate.Code{})
	if err != nil {
		return nil, nil, err
	}
	x.samples.Losses = append(x.samples.Losses, p.Damage...)
	if p.Missing != "" {
		x.samples.Losses = append(x.samples.Losses, p.Missing)
	}
	return x, append(notes, x.of(slices.Clone(x.samples.Losses)...)...), nil
}

// errNoStarts means that the lines in which functions begin are not known.
var errNoStarts = errors.New("the compiler needs the first lines of functions, which are in the executable")

// nameOne adds a hint to the error that samples are of several executables.
func nameOne(err error) error {
	if errors.Is(err, samples.ErrExecutables) {
		err = fmt.Errorf("%w; a profile is of one executable: name it with --executable", err)
	}
	return err
}

// ofSamples converts samples to a profile, with the functions that the executable has at their
// addresses.
func (in *profileInput) ofSamples(x *input, p *samples.Profile, c *annotate.Code) (*input, []string, error) {
	exe, err := p.Executable(in.ran)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(x.name), nameOne(err))
	}
	c.UseBinary(p, in.binary, cmp.Or(exe.Object, exe.Path))
	at, why := c.Frames(p)
	if x.samples, err = pgo.OfSamples(p, exe.Object, at); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", show.Name(x.name), err)
	}
	var notes []string
	if why != nil {
		if !x.samples.Starts() {
			return nil, nil, fmt.Errorf("%s: %w: %w", show.Name(x.name), errNoStarts, why)
		}
		notes = x.of(why.Error())
	}
	return x, notes, nil
}

// sourcesOf returns the profiles that the arguments of collect and merge name: all profiles of a
// directory.
func sourcesOf(args []string) (all []string, err error) {
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil || !st.IsDir() {
			all = append(all, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, fmt.Errorf("looking for profiles: %w", err)
		}
		n := len(all)
		for _, e := range entries {
			if e.Type().IsRegular() && slices.ContainsFunc(profileEndings, func(end string) bool { return strings.HasSuffix(e.Name(), end) }) {
				all = append(all, filepath.Join(arg, e.Name()))
			}
		}
		if len(all) == n {
			return nil, fmt.Errorf("%s: no profile is in this directory: none of its files ends in %s", show.Name(arg), strings.Join(profileEndings, ", "))
		}
	}
	return all, nil
}

// profileEndings are the endings of profile names.
var profileEndings = []string{extension, ".pgo", ".pprof", ".prof", ".pb.gz", ".afdo", "perf.data"}

// fetchProfile gets a CPU profile of that many seconds from a program's debug server, and returns
// its file. An address that is not of net/http/pprof is one of scopehttp.Handler.
func (d *downloads) fetchProfile(ctx context.Context, s *streams, arg string, seconds int) (string, error) {
	a, err := parseAddress(arg)
	if err != nil {
		return "", err
	}
	switch {
	case strings.Trim(a.Path, "/") == "":
		a.Path = "/debug/pprof/profile"
	case !strings.Contains(a.Path, "/pprof/"):
		return d.fetch(ctx, s, a)
	}
	if q := a.Query(); path.Base(a.Path) == "profile" && !q.Has("seconds") {
		q.Set("seconds", fmt.Sprint(seconds))
		a.RawQuery = q.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL.String(), nil)
	if err != nil {
		return "", usagef("%w", err)
	}
	resp, err := a.ask(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	dir, err := os.MkdirTemp("", "scopeview-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the profile: %w", err)
	}
	d.dirs = append(d.dirs, dir)
	to := output{path: filepath.Join(dir, "cpu.pprof")}
	return to.path, to.write(s, func(w io.Writer) error {
		if _, err := io.Copy(w, resp.Body); err != nil {
			return fmt.Errorf("%s: the download ended early; has the program ended? (%w)", a, err)
		}
		return nil
	})
}
