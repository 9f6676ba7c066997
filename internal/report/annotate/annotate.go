// Package annotate shows source lines and instructions with the cost of each.
package annotate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/symbols"
	"github.com/scopeview/scopeview/internal/trace"
)

// Code provides the code of a program: its executable and its sources.
type Code struct {
	Binary  *symbols.Binary // nil: Why says why
	Why     string
	Sources symbols.Sources
	Remarks bool    // run the compiler for its remarks
	Hot     float64 // lines with this share of the hottest line's are marked

	object string      // the executable, as frames name it
	apart  bool        // there are samples of other executables too
	id     string      // build id of the executable that ran; "": not known
	stored *trace.File // the executable; nil: none is stored
	path   string      // path of the open executable; "": it is the stored one
}

// UseStored makes c use the executable and the sources stored with a trace, as far as they are:
// those are the ones that ran, on whatever machine. It must be called before UseBinary.
func (c *Code) UseStored(t *trace.Trace) {
	for _, f := range t.Files() {
		if f.Kind == format.FileExecutable && (c.stored == nil || c.stored.Missing) {
			c.stored = &f
		}
	}
	sources := trace.SourcesOf(t)
	c.Sources.StoredIn = sources.In
	c.Sources.Stored = func(file string) ([]byte, error) {
		b, err := sources.Read(file)
		if err != nil {
			return nil, fmt.Errorf("reading the source %s from the trace: %w; --path-map OLD=NEW reads it from a directory", file, err)
		}
		return b, nil
	}
}

// UseBinary opens the executable at path, or the one that the samples are from. It rejects another
// build, whose lines would be wrong. If the samples are from several executables, what selects one:
// by its name, or by a function that only it has.
func (c *Code) UseBinary(p *samples.Profile, path, what string) {
	hint, err := c.use(p, path, what)
	if err != nil {
		c.Why = err.Error() + hint
	}
}

// use implements UseBinary. hint follows the error and says how to select the executable.
func (c *Code) use(p *samples.Profile, path, what string) (hint string, err error) {
	exe, err := executable(p, path, what)
	if err != nil {
		return "; name one with --binary FILE", err
	}
	c.object, c.id, c.apart = exe.Object, exe.BuildID, len(p.Executables()) > 1
	given := path != ""
	if !given {
		path = exe.Path
	}
	b, err := c.open(given, path)
	if err != nil {
		if !given {
			hint = "; name it with --binary FILE"
		}
		return hint, err
	}
	if exe.BuildID != "" && exe.BuildID != b.BuildID && exe.BuildID != b.GNUID {
		return "", fmt.Errorf("the executable %s is from another build: its id is %q, and the samples have %q", path, b.BuildID, exe.BuildID)
	}
	c.Binary = b
	if given || c.stored == nil {
		c.path = path
	}
	return "", nil
}

// Path returns the path of the open executable; "" if it is stored with the trace, or none is open.
func (c *Code) Path() string { return c.path }

// executable selects one of the profile's executables.
func executable(p *samples.Profile, path, what string) (samples.Executable, error) {
	all := p.Executables()
	if len(all) < 2 {
		return p.Executable("")
	}
	if x, err := p.Executable(cmp.Or(path, what)); err == nil && (path != "" || what != "") {
		return x, nil
	}
	if path != "" { // it has been moved
		if b, err := symbols.Open(path); err == nil {
			for _, x := range all {
				if x.BuildID != "" && (x.BuildID == b.BuildID || x.BuildID == b.GNUID) {
					return x, nil
				}
			}
		}
		return p.Executable(path)
	}
	having := map[string]bool{}
	for f := range p.Frames() {
		if what != "" && (profile.Means(f.Func, what) || same(f.File, what)) {
			having[f.Object] = true
		}
	}
	all = slices.DeleteFunc(all, func(x samples.Executable) bool { return !having[x.Object] })
	if len(all) == 1 {
		return all[0], nil
	}
	return p.Executable("")
}

// open opens the executable at path, or the stored one, unless the path was given.
func (c *Code) open(given bool, path string) (*symbols.Binary, error) {
	switch {
	case !given && c.stored != nil:
		return symbols.OpenReader(c.stored.Reader(), c.stored.Name)
	case path == "":
		return nil, errors.New("the executable that ran is not known")
	}
	return symbols.Open(path)
}

// slide finds the difference between the program's addresses and its executable's.
func (c *Code) slide(p *samples.Profile) (slide uint64, ok bool) {
	tries := 0
	for f := range p.Frames() {
		if f.PC == 0 || f.Line == 0 || f.Inlined || f.Object != c.object {
			continue
		}
		if s, ok := c.Binary.Slide(p.Symbol(f), f.Line, f.PC); ok {
			return s, true
		}
		if tries++; tries > 10_000 {
			break
		}
	}
	return 0, false
}

// noSlide explains why no address of the profile is known to be in the executable.
func noSlide(p *samples.Profile) string {
	addresses := false
	for f := range p.Frames() {
		addresses = addresses || f.PC != 0
	}
	switch {
	case len(p.Stacks) == 0:
		return "there are no samples and no waits"
	case p.Samples == 0 && !addresses:
		return "there are no samples, and the waits have no addresses"
	case !addresses:
		return "the samples have no addresses"
	}
	return "no sampled address is in the executable, in a line that both know"
}

// FindInlined marks the frames that were inlined, where the samples lack that: at such a frame's
// address, the executable has another function's code.
func (c *Code) FindInlined(p *samples.Profile) error {
	if c.Binary == nil {
		return fmt.Errorf("inlined functions are not known: %s", c.Why)
	}
	slide, ok := c.slide(p)
	if !ok {
		return fmt.Errorf("inlined functions are not known: %s", noSlide(p))
	}
	for f := range p.Frames() {
		if f.PC == 0 || f.Object != c.object {
			continue
		}
		if g, _, _ := c.Binary.At(f.PC - slide); g != nil && g.Name != p.Symbol(f) && symbols.PrintName(g.Name) != p.Symbol(f) {
			f.Inlined = true
		}
	}
	return nil
}

// head lists what is not known about the code.
func (c *Code) head(more ...string) (notes []string) {
	if c.Why != "" {
		notes = append(notes, "the lines that have code are not known, so lines without a value may have code or none: "+c.Why)
	} else if c.id == "" {
		notes = append(notes, "the executable may be another one than ran: the samples have no build id")
	}
	return append(notes, more...)
}

// symbol returns a function's name in the executable.
func symbol(p *samples.Profile, function string) string {
	for f := range p.Frames() {
		if f.Func == function {
			return p.Symbol(f)
		}
	}
	return function
}

// same reports whether two file names denote the same file: one may be the end of the other.
func same(file, arg string) bool {
	return file == arg || strings.HasSuffix(strings.ReplaceAll(file, `\`, "/"), "/"+strings.TrimPrefix(arg, "./"))
}
