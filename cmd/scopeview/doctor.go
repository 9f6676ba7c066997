package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/scopeview/scopeview/internal/doctor"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/report/membench"
	"github.com/scopeview/scopeview/internal/show"
)

func newDoctor(c *call) func() error {
	failOn := c.flags().StringArray("fail-on", nil, "exit with code 4 if there is a finding `VERDICT[=SHARE]`, such as lock-contention=10%; may be repeated")
	var verdicts []string
	for _, v := range doctor.Verdicts {
		verdicts = append(verdicts, string(v))
	}
	c.completeValues("fail-on", verdicts)
	var conditions []condition
	c.checks = append(c.checks, func() (err error) {
		conditions, err = parseFailOn(*failOn)
		return err
	})
	return func() error {
		advice, spares := adviceOf(c.path)
		r, err := doctor.Examine(c.t, doctor.Options{Selection: *c.part(), Context: c.context(), Spares: spares, State: c.state(), Bandwidth: c.bandwidth})
		if err != nil {
			c.progress.done()
			return err
		}
		if err := c.show(reportdoctor.Of(c.t, c.path, r, advice), nil); err != nil {
			return err
		}
		return met(c.s, conditions, r)
	}
}

// verdictList returns the verdicts for the help.
func verdictList() string {
	var b strings.Builder
	for i, v := range doctor.Verdicts {
		if i > 0 {
			b.WriteString("\n  ")
		}
		fmt.Fprintf(&b, "%-22s  %s", v, doctor.Meanings[v])
	}
	return b.String()
}

// condition is a condition of --fail-on.
type condition struct {
	text    string
	verdict doctor.Verdict
	share   float64
}

func parseFailOn(texts []string) (cs []condition, err error) {
	for _, text := range texts {
		name, share, has := strings.Cut(text, "=")
		c := condition{text: text, verdict: doctor.Verdict(name)}
		if !slices.Contains(doctor.Verdicts, c.verdict) {
			return nil, usagef("--fail-on %q: no such verdict; see scopeview doctor --help", text)
		}
		if has {
			number, percent := strings.CutSuffix(share, "%")
			if c.share, err = strconv.ParseFloat(number, 64); percent {
				c.share /= 100
			}
			if err != nil || !(c.share >= 0 && c.share <= 1) {
				return nil, usagef("--fail-on %q: a share is 10%% or 0.1", text)
			}
		}
		cs = append(cs, c)
	}
	return cs, nil
}

// met prints the conditions that hold on standard error, and returns the exit code for them.
func met(s *streams, cs []condition, r *doctor.Report) error {
	code := exitOK
	for _, c := range cs {
		for _, f := range r.Findings {
			if f.Verdict == c.verdict && f.Share >= c.share {
				fmt.Fprintf(s.err, "scopeview: --fail-on %s: %s has a share of %s\n", c.text, label(&f), show.Percent(f.Share))
				code = exitFound
				break
			}
		}
	}
	if code == exitOK {
		return nil
	}
	return &exit{code: code}
}

// label returns a finding's verdict and object.
func label(f *doctor.Finding) string {
	if f.Object == "" {
		return string(f.Verdict)
	}
	return string(f.Verdict) + " of " + show.Name(f.Object)
}

// readBandwidth reads the output of membench --json or scale --json.
func readBandwidth(path string) (*doctor.Bandwidth, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading --membench: %w", err)
	}
	var file struct {
		membench.Result
		Memory *membench.Result `json:"memory"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("--membench %s: not a document of scopeview membench --json: %w", path, err)
	}
	r := &file.Result
	if file.Memory != nil {
		r = file.Memory
	}
	if len(r.Points) == 0 || r.Points[0].Copy <= 0 || r.Points[0].Compute <= 0 {
		return nil, fmt.Errorf("--membench %s: %w", path, errors.New("it has no measurement; write one with scopeview membench --json -o FILE, or scopeview scale --membench --json -o FILE"))
	}
	out := &doctor.Bandwidth{CPU: r.CPU}
	for _, p := range r.Inflation() {
		if p.Copy > 0 && p.Compute > 0 {
			out.Points = append(out.Points, doctor.BandwidthPoint{Cores: p.Cores, Memory: p.MemoryInflation, Compute: p.ComputeInflation})
		}
	}
	return out, nil
}
