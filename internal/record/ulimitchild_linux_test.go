//go:build !scope_off

package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/record"
	. "github.com/scopeview/scopeview/scope"
)

// ownChild in the environment makes the test binary a program of TestG42: its value has the limit,
// when it is set, the recording, and the directory.
const ownChild = "SCOPE_OWN_CHILD"

// ownLimits are the limits of TestG42: how each is set, and what the program can then do.
var ownLimits = []ownLimit{
	{"addresses 1225 MiB", leaving(unix.RLIMIT_AS, "VmSize", 1225<<20), takeMemory, "disk", "raise it, or use the heap backing", bigger, noMemory, false},
	{"addresses 4 GiB", leaving(unix.RLIMIT_AS, "VmSize", 4<<30), takeMemory, "disk", "raise it, or use the heap backing", bigger, noMemory, true},
	{"addresses 16 GiB", leaving(unix.RLIMIT_AS, "VmSize", 16<<30), takeMemory, "", "", bigger, noMemory, true},
	{"data 1225 MiB", leaving(unix.RLIMIT_DATA, "VmData", 1225<<20), takeMemory, "", "", bigger, noMemory, false},
	{"addresses by another", byAnother("as", "VmSize", 1225<<20), takeMemory, "disk", "raise it, or use the heap backing", bigger, noMemory, true},
	{"addresses, growing", leaving(unix.RLIMIT_AS, "VmSize", 2<<30), grow, "disk", "raise it, or use the heap backing", bigger, noMemory, true},
	{"stack 256 KiB", fixed(256<<10, unix.RLIMIT_STACK), takeMemory, "", "", manyArguments, "argument list too long", false},
	{"locked 0", asOther(fixed(0, unix.RLIMIT_MEMLOCK)), takeMemory, "", "", lockPage, "not permitted", false},
	{"descriptors 32", descriptors, openFiles(16), "", "", openFiles(64), "too many open files", false},
	{"threads 28", asOther(threads), takeMemory, "", "", manyThreads, noThread, false},
	{"Go's threads 28", moreThreads(28), takeMemory, "", "", manyThreads, "thread exhaustion", false},
	{"Go's threads 2", moreThreads(2), func(*testing.T) string { return "nothing" }, "default ring segments nolimit disk heap gotrace trigger", "too few threads", manyThreads, "thread exhaustion", false},
	{"Go's stacks 64 KiB", goStacks, deep(40), "", "", deep(100), "stack overflow", false},
	{"file size 6 MiB", fixed(6<<20, unix.RLIMIT_FSIZE), writeFile, "", "", writeBeyond, "got file size limit exceeded", false},
	{"file size 1 MiB", fixed(1<<20, unix.RLIMIT_FSIZE), writeBeyond, "default ring segments nolimit disk gotrace trigger", "file too large", writeBeyond, "got file size limit exceeded", false},
	{"file size 0", fixed(0, unix.RLIMIT_FSIZE), takeMemory, "default ring segments nolimit disk heap gotrace trigger", "file too large", writeBeyond, "got file size limit exceeded", false},
	{"cpu time 20 s", fixed(20, unix.RLIMIT_CPU), takeMemory, "", "", computeOn, "got CPU time limit exceeded", true},
	{"signals 0", fixed(0, unix.RLIMIT_SIGPENDING), runOther, "", "", queueSignal, "resource temporarily unavailable", false},
	{"rest 0", fixed(0, unix.RLIMIT_CORE, unix.RLIMIT_NICE, unix.RLIMIT_RTPRIO, unix.RLIMIT_RTTIME, unix.RLIMIT_MSGQUEUE, unix.RLIMIT_LOCKS), runOther, "", "", openQueue, "too many open files", false},
	{"mappings", mappings, takeMemory, "", "", mapMore, "out of memory|cannot allocate memory", false},
}

type ownLimit struct {
	name    string
	set     func(t *testing.T)
	work    func(t *testing.T) string
	refuses string // the recordings that Start may refuse
	words   string // in its error

	beyond func(t *testing.T) string // exceeds the limit
	says   string                    // the resulting message, as an expression
	slow   bool
}

// noThread is Go's message, or its C part's, for a thread that the system refuses.
const noThread = "failed to create new OS thread|pthread_create failed"

// noMemory is the message of a program that gets no memory: from the heap, the runtime, a new
// thread for its stack, or the C library, which does not check.
const noMemory = "out of memory|cannot allocate memory|pthread_create failed|SIGSEGV"

// underOwn is the program.
func underOwn(t *testing.T) {
	f := strings.Split(os.Getenv(ownChild), "\n")
	when, recording, dir := f[1], f[2], f[3]
	limits := append(ownLimits, commitLimit)
	l := &limits[slices.IndexFunc(limits, func(l ownLimit) bool { return l.name == f[0] })]
	limit := func(now string) {
		if now == when {
			l.set(t)
		}
	}
	for _, field := range []string{"VmSize", "VmData"} {
		ownBegan[field] = status(t, field)
	}
	if when == "start" { // the limit applies to the next program from its start
		limit("start")
		t.Setenv(ownChild, strings.Join([]string{f[0], "started", recording, dir}, "\n"))
		// By this name: the program may now be another user, without access to its directory.
		t.Fatal(syscall.Exec("/proc/self/exe", os.Args, os.Environ()))
	}
	var stats ownStats
	signal.Notify(ownSignals, unix.SIGXCPU, unix.SIGXFSZ, unix.SIGWINCH)
	records := func() {
		for i := range 100_000 {
			end := Task("f1")
			if i%20_000 == 0 {
				time.Sleep(time.Millisecond) // let a ring's flusher and a trigger catch up
			}
			end()
			stats.Issued++
		}
	}
	limit("before")
	if recording == "beyond" {
		stats.Work = l.beyond(t)
		text, _ := json.Marshal(stats)
		fmt.Println(string(text))
		os.Exit(0)
	}
	if recording != "none" {
		recordings := ownRecordings(dir)
		i := slices.IndexFunc(recordings, func(r ownRecording) bool { return r.name == recording })
		if err := Start(dir, append(recordings[i].options, shortTicks(), WithHeartbeat(20*time.Millisecond))...); err != nil {
			stats.Refused = err.Error()
		}
	}
	records()
	limit("during")
	stats.Work = l.work(t)
	records()
	if recording != "none" && stats.Refused == "" {
		stats.Backing = record.Current.Load().Pool().Backing().String()
		if err := Stop(); err != nil {
			stats.Error = err.Error()
		}
	}
	limit("after")
	stats.Work += "; " + l.work(t)
	stats.Work += signals(t)
	s := Stats()
	stats.Issued += ownMore
	stats.Path, stats.Recorded, stats.Overwritten, stats.Lost = Path(), s.Recorded, s.Overwritten, s.Lost.Total()
	stats.Addresses = status(t, "VmSize") >> 20
	text, _ := json.Marshal(stats)
	fmt.Println(string(text))
	os.Exit(0)
}
