package timeline

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/scopeview/scopeview/internal/testing/tracetest"
)

const locking = `header clock=monotonic start=1000 mono=1000
state closed=1 tick=11000
chunk blocks
name 2 "main"
name 3 "update"
name 4 "mu"
name 5 "rw"
calib ticks=1000 mono=1000 wall=0
lock mutex #4 ticks=5000 addr=0xc0 acquired=10 contended=4 short=2 short_ns=30
lock mutex #4 ticks=9000 addr=0xc0 acquired=1
lock mutex #4 ticks=9000 addr=0xd0
stop ticks=11000
chunk records
task "main" g=1 start=1050 stop=9000 cpu=0/unknown
task "update" g=1 start=1100 stop=3000 cpu=0/unknown
hold "mu" g=1 start=1200 stop=3000 cpu=0/unknown | addr:0xc0 goid:0 uint:256
wait "mu" g=2 start=1500 stop=3000 cpu=0/unknown | addr:0xc0 goid:1 uint:256
wait "mu" g=3 start=1600 stop=3400 cpu=0/unknown | addr:0xc0 goid:1 uint:256
wait "mu" g=9 start=1700 stop=1800 cpu=0/unknown | addr:0xd0
hold "mu" g=2 start=3000 stop=3400 cpu=0/unknown | addr:0xc0 goid:0 uint:256
hold "mu" g=3 start=3400 open tid=7 | addr:0xc0 goid:0 uint:256
hold "rw" g=2 start=5000 stop=6000 cpu=0/unknown | addr:0xe0 goid:0 uint:513
hold "rw" g=3 start=5500 stop=6500 cpu=0/unknown | addr:0xe0 goid:0 uint:513
`

// name returns the name of an id, if the container has names.
func (d *decoded) name(id uint16) string {
	if d.Meta == nil {
		return strconv.Itoa(int(id))
	}
	return d.Meta.Names[id]
}

// lockLines formats a LockTile's objects.
func lockLines(d *decoded) (lines []string) {
	h, w := 0, 0
	for _, l := range d.Locks.Locks {
		line := fmt.Sprintf("%s %s %s: waits %d %d %d, holds %d %d %d, at most %d;", d.name(l.Name), l.Addr, l.Kind, l.Waits, l.Wait, l.WaitMax, l.Holds, l.Hold, l.HoldMax, l.Most)
		for range l.Held {
			scope := "-"
			if s := d.ints["holdScope"][h]; s > 0 {
				scope = d.name(uint16(s - 1))
			}
			line += fmt.Sprintf(" %d+%d g%d %s ×%d f%d", d.ints["holdStart"][h], d.ints["holdDur"][h], d.ints["holdGoid"][h], scope, d.ints["holdMany"][h], d.ints["holdFlags"][h])
			h++
		}
		for range l.Steps {
			line += fmt.Sprintf(" %d:%d/%d", d.ints["waitTime"][w], d.ints["waitCount"][w], d.ints["waitSum"][w])
			w++
		}
		lines = append(lines, line)
	}
	return lines
}

func TestLockTile(t *testing.T) {
	tr := tracetest.OpenText(t, locking)
	x, err := Load(context.Background(), tr, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tile := func(from, to, max int64) []string {
		c := &Container{Meta: x.Meta(tr, MetaOptions{}), Locks: x.LockTile(from, to, max)}
		return lockLines(pack(t, c))
	}
	want := []string{
		"mu 0xc0 mutex: waits 2 3300 1800, holds 3 8800 6600, at most 2;" +
			" 200+1800 g1 update ×1 f0 2000+400 g2 - ×1 f0 2400+6600 g3 - ×1 f0 500:1/100 600:2/2800 2000:1/400 2400:0/0",
		"mu 0xd0 mutex: waits 1 100 100, holds 0 0 0, at most 1; 700:1/100 800:0/0",
		"rw 0xe0 rwmutex: waits 0 0 0, holds 2 2000 1000, at most 0; 4000+1500 g2 - ×2 f1",
	}
	// The open hold lasts up to the last known moment.
	want[0] = strings.NewReplacer("8800", "9800", "6600", "7600").Replace(want[0])
	if got := tile(0, 10000, 0); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if s := x.LockTile(0, 10000, 0).Locks; s[0].Sums == nil || *s[0].Sums != (lockSums{11, 4, 2, 30}) || s[1].Sums.Had != -1 || s[2].Sums != nil {
		t.Errorf("counted: %+v, %+v, %+v", s[0].Sums, s[1].Sums, s[2].Sums)
	}
	part := []string{"mu 0xc0 mutex: waits 1 1800 1800, holds 2 8000 7600, at most 1; 2000+400 g2 - ×1 f0 2400+7600 g3 - ×1 f0 2100:1/300 2400:0/0"}
	if got := tile(2100, 2500, 0); !slices.Equal(got, part) {
		t.Errorf("a part:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(part, "\n"))
	}
	// Merged, the columns have fewer entries, and the sums stay.
	few := tile(0, 10000, 5)
	if !strings.HasPrefix(few[0], "mu 0xc0 mutex: waits 2 3300 1800, holds 3 9800 7600") || strings.Count(strings.Join(few, " "), "+") > 5 {
		t.Errorf("in few items:\n%s", strings.Join(few, "\n"))
	}
}

// TestWaitersMerged: at any resolution, the maximum number of waiters is preserved.
func TestWaitersMerged(t *testing.T) {
	var list []lockSpan
	for i := range int64(1000) {
		list = append(list, lockSpan{start: 10 * i, end: 10*i + 15 + 100*(i/500)})
	}
	most := func(res int64) (n, most int, sum int64) {
		waiting(list, 0, 20_000, res, func(_ int64, k int, ns int64) {
			n++
			most, sum = max(most, k), sum+ns
		})
		return n, most, sum
	}
	exact, want, all := most(0)
	for _, res := range []int64{100, 1000, 5000} {
		if n, got, sum := most(res); got != want || sum != all || n > int(2*20_000/res)+2 || n >= exact {
			t.Errorf("at %d: %d steps up to %d, want up to %d", res, n, got, want)
		}
	}
}
