package annotate

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/scopeview/scopeview/internal/pgo"
	"github.com/scopeview/scopeview/internal/pgo/explain"
	"github.com/scopeview/scopeview/internal/report/profile"
	"github.com/scopeview/scopeview/internal/samples"
	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/symbols"
)

// HotCall describes a call that is hot in the profile the program is built with, and how the
// compiler treated it.
type HotCall struct {
	Caller, Callee string // as frames name them; as the profile does where there is no frame of them
	File           string // as frames name it; "": not known
	Line           int
	Text           string // how hot it is, and the compiler's treatment
}

// HotCalls finds how the compiler used the profile that the executable was built with. It returns
// none if the executable was built without one, or if the profile or the program's source is not on
// this machine. It builds the program twice, with the profile and without.
func (c *Code) HotCalls(ctx context.Context, p *samples.Profile) (list []HotCall, err error) {
	if c.Binary == nil || !c.Remarks {
		return nil, nil
	}
	o, content, err := c.profiled()
	if err != nil || content == nil {
		return nil, err
	}
	read, err := pgo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("reading the profile %s that the program is built with: %w", o.Profile, err)
	}
	edges, err := read.Edges()
	if err != nil {
		return nil, fmt.Errorf("reading the profile %s that the program is built with: %w", o.Profile, err)
	}
	r, err := explain.Of(ctx, o, edges)
	if err != nil {
		return nil, err
	}
	known := map[string]*symbols.Frame{}
	for f := range p.Frames() {
		if f.Object == c.object {
			known[symbols.PrintName(p.Symbol(f))] = f
		}
	}
	for _, e := range r.Edges {
		call := HotCall{Caller: e.Caller, Callee: e.Callee, Line: e.Line}
		call.Text = fmt.Sprintf("%s of the calls by %s: %s", show.Percent(e.Share), filepath.Base(o.Profile), e.Text)
		if f := known[symbols.PrintName(e.Caller)]; f != nil && e.File != "" {
			call.Caller, call.File = f.Func, f.File
		}
		if f := known[symbols.PrintName(e.Callee)]; f != nil {
			call.Callee = f.Func
		}
		list = append(list, call)
	}
	return list, nil
}

// profiled returns the options that the program was built with, and its profile; nil if it has
// none, or can't be built here.
func (c *Code) profiled() (o explain.Options, profile []byte, err error) {
	info, err := c.settings()
	if err != nil {
		return o, nil, err
	}
	mains := c.Binary.Find("main.main")
	if info["-pgo"] == "" || len(mains) == 0 {
		return o, nil, nil
	}
	_, main, err := c.Sources.ReadAll(mains[0].File)
	var none *symbols.NoSourceError
	if errors.As(err, &none) || err == nil && main == "" {
		return o, nil, nil
	}
	if err != nil {
		return o, nil, err
	}
	o.Dir = filepath.Dir(main)
	profile, o.Profile, err = c.Sources.ReadAll(info["-pgo"])
	if errors.As(err, &none) { // -trimpath keeps only its name
		o.Profile = filepath.Join(o.Dir, path.Base(filepath.ToSlash(info["-pgo"])))
		if profile, err = os.ReadFile(o.Profile); errors.Is(err, os.ErrNotExist) {
			return o, nil, nil
		}
	}
	if info["-tags"] != "" {
		o.Flags = append(o.Flags, "-tags="+info["-tags"])
	}
	if info["-race"] == "true" {
		o.Flags = append(o.Flags, "-race")
	}
	return o, profile, err
}

// settings returns the build settings of the executable.
func (c *Code) settings() (map[string]string, error) {
	var info *buildinfo.BuildInfo
	var err error
	if c.path != "" {
		info, err = buildinfo.ReadFile(c.path)
	} else {
		info, err = buildinfo.Read(c.stored.Reader())
	}
	if err != nil {
		return nil, fmt.Errorf("reading how the program was built: %w", err)
	}
	of := map[string]string{}
	for _, s := range info.Settings {
		of[s.Key] = s.Value
	}
	return of, nil
}

// Callers shows the callers and the callees of a function, with the compiler's treatment of the hot
// calls between them.
func Callers(ctx context.Context, v *profile.View, c *Code, what string) (*profile.Report, error) {
	calls, err := c.HotCalls(ctx, v.Profile)
	switch {
	case err != nil:
		return profile.Callers(v, what, nil, err.Error())
	case c.Binary == nil:
		return profile.Callers(v, what, nil, "the profile that the program is built with is not known: "+c.Why)
	case len(calls) == 0:
		return profile.Callers(v, what, nil, "the program is not built with a profile, or the profile or the program's source was not found; --path-map OLD=NEW maps their directory")
	}
	return profile.Callers(v, what, said(calls))
}

// hotLines returns the remarks on the calls in a file, by line.
func hotLines(calls []HotCall, file string) map[int][]string {
	of := map[int][]string{}
	for _, c := range calls {
		if c.File == file {
			of[c.Line] = append(of[c.Line], show.Name("call of "+c.Callee+", "+c.Text))
		}
	}
	return of
}

// said returns a function that returns the remarks on the calls between two functions.
func said(calls []HotCall) func(caller, callee string) string {
	of := map[[2]string]string{}
	for _, c := range calls {
		key := [2]string{c.Caller, c.Callee}
		text := c.Text
		if c.Line > 0 {
			text = fmt.Sprintf("line %d, %s", c.Line, text)
		}
		of[key] = strings.TrimPrefix(of[key]+"; "+text, "; ")
	}
	return func(caller, callee string) string { return of[[2]string{caller, callee}] }
}
