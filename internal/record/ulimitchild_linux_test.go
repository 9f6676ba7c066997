//go:build !scope_off

package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// ownChild in the environment makes the test binary a program of TestG42: the limit, when it comes,
// the recording, and the directory to record into.
const ownChild = "SCOPE_OWN_CHILD"

// ownLimits are the limits of TestG42: how one is set, and what the program can do then.
var ownLimits = []ownLimit{
	{"addresses 1225 MiB", leaving(unix.RLIMIT_AS, "VmSize", 1225<<20), takeMemory, "disk", "raise it, or use the heap backing"},
	{"addresses 4 GiB", leaving(unix.RLIMIT_AS, "VmSize", 4<<30), takeMemory, "disk", "raise it, or use the heap backing"},
	{"addresses 16 GiB", leaving(unix.RLIMIT_AS, "VmSize", 16<<30), takeMemory, "", ""},
	{"data 1225 MiB", leaving(unix.RLIMIT_DATA, "VmData", 1225<<20), takeMemory, "", ""},
}

type ownLimit struct {
	name    string
	set     func(t *testing.T)
	work    func(t *testing.T) string
	refuses string // the recordings that Start may refuse
	words   string // which its error has
}

// leaving sets a limit of memory so that it leaves so many bytes more than the program has.
func leaving(which int, field string, n uint64) func(*testing.T) {
	return func(t *testing.T) { setLimit(t, which, uint64(status(t, field))+n) }
}

func setLimit(t *testing.T, which int, n uint64) {
	if err := unix.Setrlimit(which, &unix.Rlimit{Cur: n, Max: n}); err != nil {
		t.Fatal(err)
	}
}

func takeMemory(*testing.T) string {
	takeAll(300<<20, 20)
	return "took 300 MiB and 20 threads"
}

// underOwn is the program.
func underOwn(t *testing.T) {
	f := strings.Split(os.Getenv(ownChild), "\n")
	when, recording, dir := f[1], f[2], f[3]
	l := &ownLimits[slices.IndexFunc(ownLimits, func(l ownLimit) bool { return l.name == f[0] })]
	limit := func(now string) {
		if now == when {
			l.set(t)
		}
	}
	if when == "start" { // the limit is there from the very beginning of the next program
		limit("start")
		t.Setenv(ownChild, strings.Join([]string{f[0], "started", recording, dir}, "\n"))
		t.Fatal(syscall.Exec(os.Args[0], os.Args, os.Environ()))
	}
	var told ownStats
	records := func() {
		for i := range 200_000 {
			if Task("f1")(); i%20_000 == 0 {
				time.Sleep(time.Millisecond) // a ring's flusher follows
			}
			told.Issued++
		}
	}
	limit("before")
	if recording != "none" {
		i := slices.IndexFunc(ownRecordings, func(r ownRecording) bool { return r.name == recording })
		if err := Start(dir, append(ownRecordings[i].options, shortTicks(), WithHeartbeat(20*time.Millisecond))...); err != nil {
			told.Refused = err.Error()
		}
	}
	records()
	limit("during")
	told.Work = l.work(t)
	records()
	if recording != "none" && told.Refused == "" {
		told.Backing = record.Current.Load().Pool().Backing().String()
		if err := Stop(); err != nil {
			told.Error = err.Error()
		}
	}
	limit("after")
	told.Work += "; " + l.work(t)
	s := Stats()
	told.Path, told.Recorded, told.Overwritten, told.Lost = Path(), s.Recorded, s.Overwritten, s.Lost.Total()
	told.Addresses = status(t, "VmSize") >> 20
	text, _ := json.Marshal(told)
	fmt.Println(string(text))
	os.Exit(0)
}
