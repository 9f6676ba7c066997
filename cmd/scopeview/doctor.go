package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scopeview/scopeview/internal/doctor"
	reportdoctor "github.com/scopeview/scopeview/internal/report/doctor"
	"github.com/scopeview/scopeview/internal/report/membench"
	"github.com/scopeview/scopeview/internal/show"
)

var doctorHelp = `doctor looks for the known problems of concurrent programs and says in words which of them a trace shows, the
one whose mending gains most first: by which numbers, how sure it is, and by how much shorter the run would be.
It says nothing where there is nothing to say.

Below them: where the cores' time went (the speed-up stack), how many goroutines ran at once, and the critical
path of the run and of its longest tasks, with what would become of the run if a scope took no time. Gains and
what-ifs come from a replay of what the goroutines did without the cause: they are estimates. Where no estimate
can be made, as of what the caches would spare, the gain is "unknown" (null in --json).

Most of it needs what the Go scheduler did: record with scope.Start(path, gotrace.With()). Without, doctor tells
what locks and heartbeats tell, and which problems it could not look for.

share is what the problem takes, of the cores' or the run's time, as the sentence says. The verdicts:
  ` + verdictList() + `

--fail-on VERDICT or VERDICT=SHARE ends with exit code 4 if there is such a finding with that share or more; the gain
does not matter, known or not.`

func newDoctor(s *streams) *cobra.Command {
	var (
		x      = excerpt{s: s}
		memory string
		failOn []string
	)
	cmd := &cobra.Command{
		Use:   "doctor TRACE",
		Short: "Say why the program does not scale: which lock, which scope, and what mending it would gain",
		Long:  doctorHelp,
		Example: `  scopeview doctor traces/
  scopeview doctor traces/ --brief
  scopeview doctor x.scope --from 2s --to 5s
  scopeview doctor x.scope --fail-on lock-contention=10% --fail-on convoy
  scopeview membench --json -o machine.json && scopeview doctor x.scope --membench machine.json
  scopeview doctor x.scope --json | jq -r '.findings[].text'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			conditions, err := parseFailOn(failOn)
			if err != nil {
				return err
			}
			var o doctor.Options
			if memory != "" {
				if o.Bandwidth, err = readBandwidth(memory); err != nil {
					return err
				}
			}
			if err := x.open(cmd, args[0]); err != nil {
				return err
			}
			defer x.t.Close()
			advice, spares := adviceOf(x.path)
			o.Selection, o.Context, o.Spares, o.State = *x.part(), cmd.Context(), spares, stateOf(x.t, x.path)
			r, err := doctor.Examine(x.t, o)
			if err != nil {
				x.progress.done()
				return err
			}
			if err := x.show(cmd, reportdoctor.Of(x.t, x.path, r, advice), nil); err != nil {
				return err
			}
			return met(s, conditions, r)
		},
	}
	x.flags(cmd)
	f := cmd.Flags()
	jsonFlag(cmd, &x.asJSON)
	x.briefFlag(cmd)
	f.StringArrayVar(&failOn, "fail-on", nil, "exit with code 4 if there is a finding `VERDICT[=SHARE]`, as lock-contention=10%; can be given several times")
	f.StringVar(&memory, "membench", "", "`FILE` that scopeview membench --json, or scale --membench --json, wrote on the machine of the trace")
	var verdicts []string
	for _, v := range doctor.Verdicts {
		verdicts = append(verdicts, string(v))
	}
	s.complete(cmd, "fail-on", verdicts)
	return cmd
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
			return nil, usagef("--fail-on %q: there is no such verdict; see scopeview doctor --help", text)
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
		return nil, fmt.Errorf("--membench %s is no document of scopeview membench --json: %w", path, err)
	}
	r := &file.Result
	if file.Memory != nil {
		r = file.Memory
	}
	if len(r.Points) == 0 || r.Points[0].Copy <= 0 || r.Points[0].Compute <= 0 {
		return nil, fmt.Errorf("--membench %s: %w", path, errors.New("there is no measurement in it; write one with scopeview membench --json -o FILE, or scopeview scale --membench --json -o FILE"))
	}
	out := &doctor.Bandwidth{CPU: r.CPU}
	for _, p := range r.Inflation() {
		if p.Copy > 0 && p.Compute > 0 {
			out.Points = append(out.Points, doctor.BandwidthPoint{Cores: p.Cores, Memory: p.MemoryInflation, Compute: p.ComputeInflation})
		}
	}
	return out, nil
}
