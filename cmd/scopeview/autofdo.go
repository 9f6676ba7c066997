package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/autofdo"
	reportautofdo "github.com/scopeview/scopeview/internal/report/autofdo"
	"github.com/scopeview/scopeview/internal/show"
)

// texts reads sample profiles.
type texts struct {
	*call
	lenient bool
}

// textsOf defines the flag for reading a TEXT.
func textsOf(c *call) *texts {
	x := &texts{call: c}
	c.flags().BoolVar(&x.lenient, "lenient", false, "accept extra blanks, and report them")
	return x
}

// read reads a profile, and prints its warnings on standard error.
func (x *texts) read(path string) (*autofdo.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the profile: %w", err)
	}
	defer f.Close()
	p, warnings, err := autofdo.Read(f, path, x.lenient)
	x.lost = x.lost || len(warnings) > 0
	for _, w := range warnings {
		fmt.Fprintf(x.s.err, "scopeview: %s\n", show.Text(w.In(path)))
	}
	return p, err
}

// writeText writes a sample profile.
func (c *call) writeText(p *autofdo.Profile) error {
	return c.out.write(c.s, func(w io.Writer) error { return autofdo.Write(c.out.exact(c.s, w), p) })
}

func newAutofdoWrite(c *call) func() error {
	in := profileInputOf(c)
	flat := c.flags().Bool("flat", false, "write inlined functions as functions of their own")
	return func() error {
		x, err := in.read(c.context(), c.args[0])
		if err != nil {
			return err
		}
		var notes []string
		p := x.text
		if p == nil {
			var n autofdo.Notes
			if x.branches != nil {
				p, n = autofdo.FromBranches(x.branches)
			} else {
				p, n = autofdo.FromSamples(x.samples)
			}
			notes = n.Sentences()
		}
		if *flat {
			var m autofdo.Merged
			p, m = p.Flat()
			notes = append(notes, m.Sentences()...)
		}
		for _, text := range notes {
			fmt.Fprintf(c.s.err, "scopeview: %s: %s\n", show.Name(c.args[0]), show.Text(text))
		}
		if len(p.Functions) == 0 {
			return fmt.Errorf("%s: no function in it has a known name and line: no profile is written", show.Name(c.args[0]))
		}
		return c.writeText(p)
	}
}

func newAutofdoRead(c *call) func() error {
	x := textsOf(c)
	c.noTerminal("a compressed profile", "-o default.pgo")
	return func() error {
		p, err := x.read(c.args[0])
		if err != nil {
			return err
		}
		q, err := autofdo.ToSamples(p)
		if err != nil {
			return fmt.Errorf("%s: %w", show.Name(c.args[0]), err)
		}
		if len(q.Weight) == 0 {
			return fmt.Errorf("%s: it has no call targets and no inlined functions, so Go's compiler could not use it: no profile is written", show.Name(c.args[0]))
		}
		return c.writeProfile(q)
	}
}

func newAutofdoMerge(c *call) func() error {
	x := textsOf(c)
	weights := c.flags().String("weights", "", "multiply the profiles by the weights of `LIST`, in their order: 3,1")
	return func() error {
		list, err := parseCounts(*weights, len(c.args))
		if err != nil {
			return err
		}
		sum := autofdo.New()
		for i, path := range c.args {
			p, err := x.read(path)
			if err != nil {
				return err
			}
			m, err := autofdo.Merge(sum, p, list[i])
			if err != nil {
				return fmt.Errorf("%s: %w", show.Name(path), err)
			}
			x.lost = x.lost || len(m.Sentences()) > 0
			for _, text := range m.Sentences() {
				fmt.Fprintf(c.s.err, "scopeview: %s: %s\n", show.Name(path), show.Text(text))
			}
		}
		return c.writeText(sum)
	}
}

// parseCounts parses the weights of n profiles; "" is 1 for each.
func parseCounts(text string, n int) (list []uint64, err error) {
	if text == "" {
		text = strings.TrimSuffix(strings.Repeat("1,", n), ",")
	}
	for word := range strings.SplitSeq(text, ",") {
		w, err := strconv.ParseUint(strings.TrimSpace(word), 10, 32)
		if err != nil || w == 0 {
			return nil, usagef("--weights: invalid weight %q; write whole numbers above 0, such as 3,1", word)
		}
		list = append(list, w)
	}
	if len(list) != n {
		return nil, usagef("--weights has %s for %s", show.Plural(int64(len(list)), "number"), show.Plural(int64(n), "profile"))
	}
	return list, nil
}

func newAutofdoShow(c *call) func() error {
	x := textsOf(c)
	return func() error {
		p, err := x.read(c.args[0])
		if err != nil {
			return err
		}
		return c.showReport(reportautofdo.Show(p))
	}
}

func newAutofdoOverlap(c *call) func() error {
	x := textsOf(c)
	least := c.flags().String("fail-below", "0%", "exit with code 4 below this `SHARE`")
	return func() error {
		share, err := parseShare("fail-below", *least)
		if err != nil {
			return err
		}
		var both [2]*autofdo.Profile
		for i, path := range c.args {
			if both[i], err = x.read(path); err != nil {
				return err
			}
		}
		similar, err := autofdo.Overlap(both[0], both[1])
		if err != nil {
			return fmt.Errorf("%s and %s: %w", show.Name(c.args[0]), show.Name(c.args[1]), err)
		}
		if err := c.showReport(reportautofdo.Overlap(c.args[0], c.args[1], similar)); err != nil {
			return err
		}
		return checkShare(similar.Percent, share, "overlap")
	}
}
