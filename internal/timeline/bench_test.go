package timeline

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/testing/tracetest"
	"github.com/scopeview/scopeview/internal/tracefile"
)

// synthetic returns a trace of about n scopes on four rows: requests with three calls in
// each, one of which waits for a lock.
func synthetic(n int) []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	var b tracetest.Memory
	w := tracefile.New(&b, format.Header{
		PageSize: 4096, PID: 1, Clock: format.ClockTSC, Path: format.PathAssembly, Backing: format.BackingDisk,
		StartTicks: 1000, StartMono: 5, StartWall: 1_700_000_000e9, TickRate: 1_000_000_000,
	})
	for _, name := range []string{"request", "parse", "mu", "store"} {
		w.Name(name)
	}
	const owners = 4
	now := [owners]int64{2000, 2000, 2000, 2000}
	last := int64(0)
	for i := 0; i < n; i += 4 {
		g := i / 4 % owners
		var list []format.Record
		list, now[g] = request(rnd, uint64(100+g), now[g])
		for _, r := range list {
			w.Record(uint32(g), uint32(1000+g), r, nil)
		}
		last = max(last, now[g])
	}
	w.Close(last, nil)
	return b
}

// request returns the records of a request, and the earliest time of the next one.
func request(rnd *rand.Rand, goid uint64, at int64) ([]format.Record, int64) {
	start := at + rnd.Int64N(500)
	list := make([]format.Record, 4)
	now := start + 50
	for i, k := range []format.Kind{format.KindTask, format.KindWait, format.KindTask} {
		dur := 100 + int64(rnd.ExpFloat64()*2000)
		list[i+1] = format.Record{Start: now, Stop: now + dur, Head: format.Head(goid, k, false, uint16(3+i))}
		if k == format.KindTask {
			list[i+1].CPU = uint64(dur-rnd.Int64N(30))<<2 | uint64(format.Likely)
		}
		now += dur + 20 + rnd.Int64N(100)
	}
	list[0] = format.Record{Start: start, Stop: now, Head: format.Head(goid, format.KindTask, false, 2), CPU: uint64((now-start)*8/10)<<2 | uint64(format.Likely)}
	return list, now
}

// size returns the number of scopes for the benchmarks: a million, or SCOPES in the
// environment.
func size() int {
	if n, err := strconv.Atoi(os.Getenv("SCOPES")); err == nil {
		return n
	}
	return 1_000_000
}

func BenchmarkLoad(b *testing.B) {
	data := synthetic(size())
	var x *Index
	var before, after runtime.MemStats
	for b.Loop() {
		x = nil
		runtime.GC()
		runtime.ReadMemStats(&before)
		var err error
		if x, err = Load(context.Background(), tracetest.Open(b, data), LoadOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(x.Items())*float64(b.N)/b.Elapsed().Seconds(), "scopes/s")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(x.Items()), "B/scope")
	runtime.KeepAlive(x)
}

func BenchmarkTile(b *testing.B) {
	x, err := Load(context.Background(), tracetest.Open(b, synthetic(size())), LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	end := x.end
	for _, share := range []int64{1, 10, 1000} {
		b.Run("part="+strconv.Itoa(int(share)), func(b *testing.B) {
			from, to := end/2, end/2+end/share/2
			if share == 1 {
				from = 0
			}
			var items int64
			for b.Loop() {
				t := x.Tile(from, to, (to-from)/2000)
				items = t.Items
			}
			b.ReportMetric(float64(items), "items")
		})
	}
	b.Run("choose", func(b *testing.B) {
		for b.Loop() {
			x.ResFor(0, end, x.Items()/10)
		}
	})
}

func BenchmarkPack(b *testing.B) {
	tr := tracetest.Open(b, synthetic(size()))
	x, err := Load(context.Background(), tr, LoadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, level := range []int{1, 3, 5, 6} {
		b.Run("level="+strconv.Itoa(level), func(b *testing.B) {
			n := 0
			for b.Loop() {
				c := &Container{Tile: x.Tile(0, x.end, 0)}
				n = 0
				if err := c.WriteTo(io.MultiWriter(writerFunc(func(p []byte) { n += len(p) })), level); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/float64(x.Items()), "B/scope")
		})
	}
}

type writerFunc func(p []byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
