//go:build !scope_off

package record_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scopeview/scopeview/internal/record"
	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// ownRecordings are the recordings of TestG42, and none.
func ownRecordings(dir string) []ownRecording {
	return []ownRecording{
		{"none", nil},
		{"default", nil},
		{"ring", []Option{WithRing(MinRing)}},
		{"segments", []Option{WithSegments(MinSegment, 4)}},
		{"nolimit", []Option{WithLimit(NoLimit)}},
		{"disk", []Option{WithBacking(DiskBacking)}},
		{"heap", []Option{WithBacking(HeapBacking)}},
		{"gotrace", []Option{gotrace.With()}},
		{"trigger", []Option{WithRing(MinRing), WithTrigger("f1", time.Millisecond, dir)}},
	}
}

type ownRecording struct {
	name    string
	options []Option
}

// shortOwn are the rows of TestG42 that always run, with these recordings; the others run in full
// mode.
var shortOwn = map[string]string{
	"addresses 1225 MiB/before": "none default ring disk",
	"addresses 1225 MiB/during": "none default ring trigger",
	"data 1225 MiB/during":      "default",
	"file size 6 MiB/before":    "none gotrace",
	"file size 6 MiB/during":    "none default",
	"rest 0/before":             "none gotrace",
	"Go's threads 28/during":    "none default",
	"Go's threads 2/before":     "none default",
	"Go's stacks 64 KiB/before": "none default",
	"file size 1 MiB/before":    "none default heap",
	"file size 1 MiB/during":    "none default ring segments disk heap",
}

// TestG42: a program under a limit of its own (ulimit) does work that it can do without a
// recording, which is tried first. The limit is there when the program starts, or the program sets
// it before, during or after the recording. With a recording it ends as without, and each record is
// recorded or counted, or Start has refused with an error.
func TestG42(t *testing.T) {
	if os.Getenv(ownChild) != "" {
		underOwn(t)
		return
	}
	faultfs.Children(t)
	if sys.Race {
		t.Skip("the race detector reserves more addresses than there may be")
	}
	if !record.HaveDisk {
		t.Skip("the pure path reserves no addresses")
	}
	for i := range ownLimits {
		l := &ownLimits[i]
		for _, when := range []string{"start", "before", "during", "after"} {
			short := shortOwn[l.name+"/"+when]
			if !faultfs.Full() && short == "" || l.name == "Go's threads 2" && when != "before" { // only Start checks them
				continue
			}
			tryOwn(t, l, when, short)
		}
	}
}

// tryOwn runs the program without a recording, and with each one.
func tryOwn(t *testing.T, l *ownLimit, when, short string) {
	want := ""
	for _, r := range ownRecordings("") {
		if !faultfs.Full() && !strings.Contains(short, r.name) {
			continue
		}
		t.Run(l.name+"/"+when+"/"+r.name, func(t *testing.T) {
			if l.name == "rest 0" && when == "during" && r.name == "gotrace" {
				t.Skip("not given: the kernel ends a program with timers of CPU time when it gets no real time (RLIMIT_RTTIME)")
			}
			stats, says, err := runOwn(t, l.name, when, r.name)
			if err != nil {
				t.Fatalf("the program ended with %v\n%.2000s", err, says)
			}
			_, name, _ := strings.Cut(t.Name(), "/")
			t.Logf("G42: %s: %+v", name, stats)
			switch {
			case r.name == "none":
				want = stats.Work
			case stats.Refused != "" && when != "start" && when != "before":
				t.Errorf("refused before there was a limit: %s", stats.Refused)
			case stats.Refused != "":
				if !strings.Contains(l.refuses, r.name) || !strings.Contains(stats.Refused, l.words) {
					t.Errorf("refused: %s", stats.Refused)
				}
			case stats.Recorded+stats.Overwritten+stats.Lost != stats.Issued:
				t.Errorf("%+v: not what was issued", stats)
			case stats.Error != "" && strings.HasPrefix(l.name, "file size"): // Stop has reported why not all of it, or nothing, is in the file
			case stats.Recorded == 0:
				t.Errorf("%+v: nothing was recorded", stats)
			default:
				each(t, stats.Path, func(*trace.Trace, *trace.Event) {})
			}
			if want != "" && stats.Work != want {
				t.Errorf("the program did %q, and %q without a recording", stats.Work, want)
			}
		})
	}
}

// ownStats is the program's output.
type ownStats struct {
	Path, Refused, Error, Backing       string `json:",omitempty"`
	Work                                string // what the program did
	Issued, Recorded, Overwritten, Lost int64
	Addresses                           int64 // MiB, at the end
}

// TestG42Twins: the limits of TestG42 are effective. A program that needs more than one leaves gets
// an error or a signal, or Go's runtime exits.
func TestG42Twins(t *testing.T) {
	faultfs.Children(t)
	if sys.Race {
		t.Skip("the race detector reserves more addresses than there may be")
	}
	for i := range ownLimits {
		twinOwn(t, &ownLimits[i])
	}
}

func twinOwn(t *testing.T, l *ownLimit) {
	t.Run(l.name+"/twin", func(t *testing.T) {
		if l.slow && !faultfs.Full() {
			t.Skip("SCOPEVIEW_FAULT=full")
		}
		stats, says, err := runOwn(t, l.name, "before", "beyond")
		if err == nil {
			says = stats.Work
		}
		if !regexp.MustCompile(l.says).MatchString(says) {
			t.Errorf("beyond the limit the program ended with %v, and did %q; want %q\n%.2000s", err, stats.Work, l.says, says)
		}
		t.Logf("G42: %s: twin: %q: %v", l.name, l.says, err)
	})
}

// runOwn runs the program, and returns its statistics, or its other output.
func runOwn(t *testing.T, limit, when, recording string) (stats ownStats, said string, err error) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestG42$")
	// Otherwise a C library takes 64 MiB of addresses for each of 16 threads.
	cmd.Env = append(os.Environ(), "MALLOC_ARENA_MAX=1", ownChild+"="+strings.Join([]string{limit, when, recording, dir + string(filepath.Separator)}, "\n"))
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &stats)
	}
	return stats, string(out) + says.String(), err
}
