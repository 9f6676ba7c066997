//go:build !scope_off

package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
func ownRecordings() []ownRecording {
	return []ownRecording{
		{"none", nil},
		{"default", nil},
		{"ring", []Option{WithRing(MinRing)}},
		{"segments", []Option{WithSegments(MinSegment, 4)}},
		{"nolimit", []Option{WithLimit(NoLimit)}},
		{"disk", []Option{WithBacking(DiskBacking)}},
		{"heap", []Option{WithBacking(HeapBacking)}},
		{"gotrace", []Option{gotrace.With()}},
		{"trigger", []Option{WithRing(MinRing), WithTrigger("f1", time.Millisecond, ownDir())}},
	}
}

type ownRecording struct {
	name    string
	options []Option
}

// shortOwn are the rows of TestG42 that are tried always, with these recordings; the others in full.
var shortOwn = map[string]string{
	"addresses 1225 MiB/before": "none default ring disk",
	"addresses 1225 MiB/during": "none default ring trigger",
	"data 1225 MiB/during":      "default",
	"file size 6 MiB/before":    "none gotrace",
	"file size 6 MiB/during":    "none default",
}

// TestG42 has a program under a limit of its own (ulimit) do a work that it can do without a
// recording, which is tried first. The limit is there when the program starts, or it sets it itself
// before, during or after the recording. With a recording it ends as without, and each record is
// there or counted, or Start has refused in words.
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
	for _, l := range ownLimits {
		for _, when := range []string{"start", "before", "during", "after"} {
			short, want := shortOwn[l.name+"/"+when], ""
			if !faultfs.Full() && short == "" {
				continue
			}
			for _, r := range ownRecordings() {
				if !faultfs.Full() && !strings.Contains(short, r.name) {
					continue
				}
				t.Run(l.name+"/"+when+"/"+r.name, func(t *testing.T) {
					told := runOwn(t, l.name, when, r.name)
					t.Logf("G42: %s: %+v", strings.TrimPrefix(t.Name(), "TestG42/"), told)
					switch {
					case r.name == "none":
						want = told.Work
					case told.Refused != "" && when != "start" && when != "before":
						t.Errorf("refused before there was a limit: %s", told.Refused)
					case told.Refused != "":
						if !strings.Contains(l.refuses, r.name) || !strings.Contains(told.Refused, l.words) {
							t.Errorf("refused: %s", told.Refused)
						}
					case told.Recorded+told.Overwritten+told.Lost != told.Issued || told.Recorded == 0:
						t.Errorf("%+v: not what was issued", told)
					case told.Error != "" && strings.HasPrefix(l.name, "file size"): // Stop has said why not all of it is in the file
					default:
						each(t, told.Path, func(*trace.Trace, *trace.Event) {})
					}
					if want != "" && told.Work != want {
						t.Errorf("the program did %q, and %q without a recording", told.Work, want)
					}
				})
			}
		}
	}
}

// ownStats is what the program tells.
type ownStats struct {
	Path, Refused, Error, Backing       string `json:",omitempty"`
	Work                                string // what the program did
	Issued, Recorded, Overwritten, Lost int64
	Addresses                           int64 // MiB, at its end
}

func runOwn(t *testing.T, limit, when, recording string) (told ownStats) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestG42$")
	// Else a C library takes 64 MiB of addresses for each of 16 threads.
	cmd.Env = append(os.Environ(), "MALLOC_ARENA_MAX=1", ownChild+"="+strings.Join([]string{limit, when, recording, dir + string(filepath.Separator)}, "\n"))
	var says strings.Builder
	cmd.Stderr = &says
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &told)
	}
	if err != nil {
		t.Fatalf("the program ended with %v\n%.2000s\n%.2000s", err, out, fmt.Sprint(&says))
	}
	return told
}
