package traces

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/scopeview/scopeview/internal/format"
	"github.com/scopeview/scopeview/internal/trace/text"
)

// Hours writes a trace with one scope of ten hours on one goroutine and n scopes
// of 100 ns on another.
func Hours(path string, n int) error {
	const hours = 36_000_000_000_000
	return write(path, hours, []string{"ten hours", "blink"}, func(record func(string, ...any)) {
		record(`task "ten hours" g=1 start=1000 stop=%d cpu=0/unknown`, hours)
		for i := range n {
			start := 2000 + int64(i)*(hours/int64(n+1))
			record(`task "blink" g=2 start=%d stop=%d cpu=0/unknown`, start, start+100)
		}
	})
}

// What Tenants writes: executions of Get, of which those with SlowTenant, SlowTenants of
// Gets, wait for TenantLock in the scope Load.
const (
	Get         = "get"
	Load        = "load"
	TenantLock  = "cache.mu"
	SlowTenant  = 7
	Gets        = 600
	SlowTenants = 6 // each takes 41 ms longer than the others
)

// Tenants writes a trace in which the durations of a name have two modes, by an argument.
func Tenants(path string) error {
	const apart = 2_000_000
	return write(path, Gets*apart+100_000_000, []string{Get, Load, TenantLock, "serve", "tenant"}, func(record func(string, ...any)) {
		for i := range Gets {
			start := 10_000 + int64(i)*apart
			tenant, dur, wait := i%5, int64(500_000+i%50*10_000), int64(0)
			if i%100 == 42 {
				tenant, wait = SlowTenant, 41_000_000
			}
			stop := start + dur + wait
			row := 1 + i%30 // so that they do not overlap on it
			record(`task "serve" g=%d start=%d stop=%d cpu=0/unknown`, row, start-1000, stop+1000)
			record(`task "get" g=%d start=%d stop=%d cpu=%d/exact | key:"tenant" int:%d`, row, start, stop, dur/2, tenant)
			record(`task "load" g=%d start=%d stop=%d cpu=0/unknown`, row, start+1000, stop-1000)
			if wait > 0 {
				record(`wait "cache.mu" g=%d start=%d stop=%d cpu=0/unknown | addr:0xc000012340`, row, start+2000, start+2000+wait)
			}
		}
	})
}

// Jump writes a trace across a step of the clock, with one scope before it, one
// behind and one open across it.
func Jump(path string) error {
	const end = 10_000_000
	return write(path, end, []string{"before", "across", "behind"}, func(record func(string, ...any)) {
		record(`task "before" g=1 start=2000 stop=1000000 cpu=0/unknown`)
		record(`task "across" g=2 start=3000 stop=9000000 cpu=0/unknown`)
		record(`task "behind" g=1 start=6000000 stop=8000000 cpu=0/unknown`)
	}, "break before=4000000 after=5000000")
}

// Queue writes a trace with n waits for the lock Lock, one after another on so many rows, each
// longer than the one before; a row more holds it all along.
func Queue(path string, n, rows int) error {
	const tick = 1_000_000
	end := int64(n+2) * tick * 2
	return write(path, end, []string{Lock, "work"}, func(record func(string, ...any)) {
		record(`task "work" g=99 start=1000 stop=%d cpu=0/unknown`, end-1000)
		record(`hold %q g=99 start=1500 stop=%d cpu=0/unknown | addr:0xc0 goid:0 uint:256`, Lock, end-1500)
		for i := range n {
			start := 2000 + int64(2*i)*tick
			record(`wait %q g=%d start=%d stop=%d cpu=0/unknown | addr:0xc0 goid:99 uint:256`, Lock, 1+i%rows, start, start+tick+int64(i)*100)
		}
	})
}

// write writes a closed trace that ends at a tick, with names and blocks and the records
// added by records.
func write(path string, end int64, names []string, records func(record func(string, ...any)), blocks ...string) error {
	const perChunk = (format.ChunkSize - format.ChunkHeaderSize) / format.RecordSize
	var b bytes.Buffer
	fmt.Fprintf(&b, "header chunk=%d pid=4711 clock=monotonic wall=1700000000000000000 start=1000 mono=1000\n", format.ChunkSize)
	fmt.Fprintf(&b, "state closed=1 tick=%d\nchunk blocks\n", end)
	for i, name := range names {
		fmt.Fprintf(&b, "name %d %q\n", format.FirstName+i, name)
	}
	b.WriteString("calib ticks=1000 mono=1000 wall=1700000000000000000\n")
	for _, line := range blocks {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "stop ticks=%d\n", end)
	n := 0
	records(func(line string, args ...any) {
		size := 1
		if strings.Contains(line, " | ") {
			size = 4 // maximum, with the few arguments written here
		}
		if n == 0 || n+size > perChunk {
			b.WriteString("chunk records owner=0\n")
			n = 0
		}
		n += size
		fmt.Fprintf(&b, line+"\n", args...)
	})
	data, err := text.Assemble(&b)
	if err != nil {
		return fmt.Errorf("%s can't be assembled: %w", path, err)
	}
	return os.WriteFile(path, data, 0o644)
}

// Stairs writes a trace of 7 s in which two goroutines, the second half a step behind
// the first, do every 100 ms a job of 50 ms, in it a part of 5 ms, and in that a bit of
// 3 µs.
func Stairs(path string) error {
	const ms = 1_000_000
	return write(path, 7000*ms, []string{"job", "part", "bit"}, func(record func(string, ...any)) {
		for i := range int64(69) {
			for g := range int64(2) {
				at := (100*i + 50*g + 1) * ms
				record(`task "job" g=%d start=%d stop=%d cpu=0/unknown`, g+1, at, at+50*ms)
				record(`task "part" g=%d start=%d stop=%d cpu=0/unknown`, g+1, at+20*ms, at+25*ms)
				record(`task "bit" g=%d start=%d stop=%d cpu=0/unknown`, g+1, at+21*ms, at+21*ms+3000)
			}
		}
	})
}

// Placed writes a trace whose names are from places in the source, but for one.
func Placed(path string) error {
	place := func(i int, function, file string, line int) string {
		return fmt.Sprintf("frame %d %q %q line=%d start=0", format.PlaceFrames+format.FirstName+i, function, file, line)
	}
	const evil = `</script><img src=x onerror="window.pwned = 1">`
	return write(path, 12_000_000, []string{"get", "evil", "bare", "store.mu"}, func(record func(string, ...any)) {
		record(`task "get" g=1 start=1000000 stop=5000000 cpu=0/unknown`)
		record(`task "evil" g=1 start=6000000 stop=8000000 cpu=0/unknown`)
		record(`task "bare" g=1 start=9000000 stop=10000000 cpu=0/unknown`)
		record(`wait "store.mu" g=2 start=2000000 stop=4000000 cpu=0/unknown | addr:0x10 goid:1 uint:256`)
	}, place(0, "example.com/store.(*Store).get", "/build/store/store.go", 142), place(1, evil, "javascript:/"+evil, 7),
		place(3, "example.com/store.(*Store).lock", "/build/store/store.go", 9))
}

// What Handlers writes: at HandlersAt ns HandlersActive of its Handling rows are in a
// scope, and HandlersWaiting of those wait for a lock.
const (
	Handling        = 500
	HandlersAt      = 350_500_000
	HandlersActive  = 251
	HandlersWaiting = 50
)

// Handlers writes a trace of 1.1 s with Handling rows called handler. Each is in a scope
// for 500 ms, of which it waits 50 ms for a lock; every ms another one begins. Beside
// them are the rows worker 8, 7, 3 and 10, that begin in this order.
func Handlers(path string) error {
	const ms = 1_000_000
	names := []string{"handler", "handle", "mu", "work", "worker 8", "worker 7", "worker 3", "worker 10"}
	return write(path, 1100*ms, names, func(record func(string, ...any)) {
		for i, n := range []int{8, 7, 3, 10} {
			at := int64(10_000 + 1000*i)
			record(`track "worker %d" g=%d start=%d`, n, 1000+i, at)
			record(`task "work" g=%d start=%d stop=%d cpu=%d/exact`, 1000+i, at+100, at+100*ms, (i+1)*ms)
			record(`task "work" g=%d start=%d stop=%d cpu=0/unknown`, 1000+i, at+200, at+50*ms)
		}
		for i := range int64(Handling) {
			at := (100 + i) * ms
			record(`track "handler" g=%d start=%d`, i+1, at)
			record(`task "handle" g=%d start=%d stop=%d cpu=0/unknown`, i+1, at, at+500*ms)
			record(`wait "mu" g=%d start=%d stop=%d cpu=0/unknown | addr:0xc000012340`, i+1, at+100*ms, at+150*ms)
		}
	})
}

// What Requests writes: the request RequestID over three goroutines and two processes.
const (
	RequestID    = "abcdef0000000001000000000000002a"
	RequestParts = 5 // and a parent that is missing
	RequestFlows = 3 // arrows: two calls, and from the other process back
	Flows        = 5 // those of the other request, too
)

// Requests writes a merged trace of two processes, with two requests and what belongs to none.
func Requests(path string) error {
	const ms = 1_000_000
	link := func(request, span, parent int) string {
		return fmt.Sprintf("addr:0x%x addr:0x2a addr:%d addr:%d", 0xabcdef00<<32+uint64(request), span, parent)
	}
	return write(path, 200*ms, []string{"GET /buy", "pay", "query", "render", "orphan", "GET /", "other", "db 12 CPUs"}, func(record func(string, ...any)) {
		task := func(name string, process, g, from, to int64, link string) {
			record(`task %q g=%d start=%d stop=%d cpu=0/unknown%s`, name, process<<30+g, from*ms, to*ms, link)
		}
		task("GET /buy", 1, 1, 10, 90, " | "+link(1, 1, 0))
		task("render", 1, 1, 65, 80, " | "+link(1, 4, 1))
		task("pay", 1, 2, 20, 60, " | "+link(1, 2, 1))
		task("query", 2, 1, 30, 50, " | "+link(1, 3, 2))
		task("orphan", 2, 2, 85, 88, " | "+link(1, 5, 153))
		task("GET /", 1, 3, 100, 150, " | "+link(2, 11, 0))
		task("query", 2, 2, 110, 140, " | "+link(2, 12, 11))
		task("other", 1, 4, 5, 195, "")
		record(`counter "db 12 CPUs" g=%d start=%d value=float:0.5`, int64(2<<30+1), 40*ms)
	}, `member 1 "/bin/api" "h1" "b1" "api.scope" "" shift=30 pid=11 from=1000 to=200000000 error=0`,
		`member 2 "/bin/db" "h2" "b2" "db.scope" "" parent=1 shift=30 pid=12 from=1000 to=200000000 error=12000`)
}
