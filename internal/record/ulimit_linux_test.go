//go:build !scope_off

package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/scopeview/scopeview/internal/sys"
	"github.com/scopeview/scopeview/internal/testing/faultfs"
	"github.com/scopeview/scopeview/internal/trace"
	. "github.com/scopeview/scopeview/scope"
)

// addressChild in the environment makes the test binary a program whose addresses are limited:
// when the limit comes, how many bytes it leaves, the backing, how many MiB the program takes,
// and the directory to record into.
const addressChild = "SCOPE_ADDRESS_CHILD"

var addressBackings = map[string][]Option{
	"none":     nil,
	"default":  nil,
	"ring":     {WithRing(MinRing)},
	"segments": {WithSegments(MinSegment, 4)},
	"nolimit":  {WithLimit(NoLimit)},
	"disk":     {WithBacking(DiskBacking)},
	"heap":     {WithBacking(HeapBacking)},
}

// shortAddresses are those of TestG42Addresses that are tried always; the others in full.
var shortAddresses = []string{"before/default", "before/ring", "before/disk"}

// TestG42Addresses has a program with a limit of addresses (ulimit -v) take 300 MiB after it has
// begun to record. The limit leaves 1,225 MiB of them, which is what a static program has at
// ulimit -v 2500000, and 4 and 16 GiB. It ends as it does without a recording, and each record is
// there or counted, or Start has refused in words.
func TestG42Addresses(t *testing.T) {
	if v := os.Getenv(addressChild); v != "" {
		addressed(t, strings.Split(v, "\n"))
		return
	}
	faultfs.Children(t)
	if sys.Race {
		t.Skip("the race detector reserves more addresses than there may be")
	}
	for _, when := range []string{"before"} {
		for backing := range addressBackings {
			for _, leaves := range []int64{1225 << 20, 4 << 30, 16 << 30} {
				name := when + "/" + backing
				if !faultfs.Full() && (!slices.Contains(shortAddresses, name) || leaves > 2<<30) {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d", name, leaves>>20), func(t *testing.T) {
					dir := t.TempDir()
					cmd := exec.Command(os.Args[0], "-test.run=^TestG42Addresses$")
					// Else a C library takes 64 MiB of addresses for each of 16 threads.
					cmd.Env = append(os.Environ(), "MALLOC_ARENA_MAX=1", addressChild+"="+strings.Join([]string{when, fmt.Sprint(leaves), backing, "300", dir}, "\n"))
					out, err := cmd.CombinedOutput()
					if err != nil {
						t.Fatalf("the program ended with %v\n%.2000s", err, out)
					}
					var told addressStats
					if err := json.Unmarshal(out, &told); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					t.Logf("G42: %+v", told)
					switch {
					case backing == "none":
					case told.Refused != "":
						if backing != "disk" || !strings.Contains(told.Refused, "ulimit -v") || !strings.Contains(told.Refused, "raise it") {
							t.Errorf("refused: %s", told.Refused)
						}
					case told.Recorded+told.Overwritten+told.Lost != told.Issued || told.Recorded == 0:
						t.Errorf("%+v: not what was issued", told)
					default:
						each(t, told.Path, func(*trace.Trace, *trace.Event) {})
					}
				})
			}
		}
	}
}

// addressStats is what the program tells.
type addressStats struct {
	Path, Refused                       string `json:",omitempty"`
	Issued, Recorded, Overwritten, Lost int64
	Has                                 int64 // MiB of addresses
}

func addressed(t *testing.T, f []string) {
	when, backing, dir := f[0], f[2], f[4]
	var leaves, mib int
	fmt.Sscan(f[1], &leaves)
	fmt.Sscan(f[3], &mib)
	limit := func(now string) {
		if now == when {
			n := uint64(status(t, "VmSize")) + uint64(leaves)
			if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: n, Max: n}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var told addressStats
	work := func() {
		for i := range 300_000 {
			if Task("f1")(); i%20_000 == 0 {
				time.Sleep(time.Millisecond) // a ring's flusher follows
			}
			told.Issued++
		}
	}
	limit("before")
	if backing != "none" {
		if err := Start(dir+string(filepath.Separator), append(addressBackings[backing], shortTicks())...); err != nil {
			told.Refused = err.Error()
		}
	}
	work()
	b := make([]byte, mib<<20)
	for i := 0; i < len(b); i += os.Getpagesize() {
		b[i] = 1
	}
	takeAll(1, 20)
	work()
	if backing != "none" && told.Refused == "" {
		if err := Stop(); err != nil {
			t.Fatal(err)
		}
	}
	runtime.KeepAlive(b)
	s := Stats()
	told.Path, told.Recorded, told.Overwritten, told.Lost = Path(), s.Recorded, s.Overwritten, s.Lost.Total()
	told.Has = status(t, "VmSize") >> 20
	text, _ := json.Marshal(told)
	fmt.Println(string(text))
	os.Exit(0)
}
