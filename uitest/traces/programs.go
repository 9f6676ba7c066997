package traces

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scopeview/scopeview/scope"
	"github.com/scopeview/scopeview/scope/gotrace"
)

// programs by name. Each takes one number, which determines its amount of work.
var programs = map[string]struct {
	run     func(n int)
	options []scope.Option
	mayLose float64 // permitted share of lost scopes, for a program whose size matters
}{
	"store":      {run: store, options: []scope.Option{scope.WithHeartbeat(20 * time.Millisecond)}},
	"ticks":      {run: ticks, options: []scope.Option{scope.WithHeartbeat(100 * time.Millisecond)}},
	"hostile":    {run: hostile},
	"many":       {run: many, mayLose: 0.02},
	"goroutines": {run: goroutines},
	"crowd":      {run: crowd, mayLose: 0.02},
	"deep":       {run: func(n int) { deep(n); deep(3) }},
	"long":       {run: long},
	"contend":    {run: contend, options: []scope.Option{gotrace.With()}},
	"eight":      {run: eight, options: []scope.Option{gotrace.With()}},
	"delayed":    {run: delayed, options: []scope.Option{gotrace.With()}},
	"nested":     {run: nested},
	"serving":    {run: serving, options: []scope.Option{gotrace.With()}, mayLose: 0.02},
	"stuck":      {run: stuck},
	"slow":       {run: slow, options: []scope.Option{gotrace.With()}},
	"grind":      {run: grind, options: []scope.Option{gotrace.With()}},
	"server":     {run: server, options: []scope.Option{gotrace.With(), scope.WithHeartbeat(50 * time.Millisecond)}},
	"empty":      {run: func(int) {}},
	"one":        {run: func(int) { scope.Task("only")() }},
}

// The names of the program store; its workers' rows are called worker 1 to Workers.
const (
	Workers  = 4
	Lock     = "store.mu"
	Holder   = "rebuild" // holds Lock so long that all others wait for it
	Longest  = "longest.go"
	Parent   = "job" // of every parse
	longHold = 150 * time.Millisecond
)

// store is a program of Workers goroutines that do n jobs each, in nested
// scopes, and share a lock. The first worker holds it for long in the scope
// Holder while the others wait. One parse, of the file Longest, takes longer
// than all others.
func store(n int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	start := make(chan bool)
	for w := range Workers {
		done.Add(1)
		scope.Go(fmt.Sprintf("worker %d", w+1), func() {
			defer done.Done()
			<-start
			for i := range n {
				if w == 0 && i == n/2 {
					rebuild(&mu)
				}
				job(&mu, w, i, n)
			}
		})
	}
	close(start)
	done.Wait()
	scope.Event("all done", scope.KV("jobs", Workers*n))
}

// Hoarder is the row that has Lock for HoardTime in each of the scopes Hoard of the
// program contend, while the rows Starved 1 to Starving wait for it in a scope Want.
const (
	Hoarder   = "hoarder"
	Hoard     = "hoard"
	Want      = "want"
	Starved   = "starved"
	Starving  = 2
	HoardTime = 30 * time.Millisecond
)

// contend is a program with a Go execution trace in which one goroutine has a lock
// that the others wait for, n times, each of which it prints; a last one waits for a
// channel all along.
func contend(n int) {
	var mu sync.Mutex
	var done sync.WaitGroup
	never := make(chan bool)
	go waitInVain(never)
	for range n {
		held := make(chan bool)
		done.Add(1 + Starving)
		scope.Go(Hoarder, func() {
			defer done.Done()
			defer scope.Task(Hoard)()
			defer scope.Lock(&mu, Lock)()
			close(held)
			time.Sleep(HoardTime)
		})
		<-held
		for i := range Starving {
			scope.Go(fmt.Sprintf("%s %d", Starved, i+1), func() {
				defer done.Done()
				defer scope.Task(Want)()
				defer scope.Lock(&mu, Lock)()
			})
		}
		done.Wait()
		fmt.Println("round")
	}
	close(never)
}

func waitInVain(never chan bool) { <-never }

// What the program grind does: on GrindProcs of Go's processors Grinders goroutines, called
// grinder 1 to Grinders, compute in scopes Grind all along, while Crowd others wait for a
// channel. The last one has the garbage collected, in a scope Collect.
const (
	GrindProcs = 2
	Grinders   = 4
	Grind      = "grind"
	Collect    = "collect"
	Crowd      = 300
)

// grind computes n times 2 ms in each of the goroutines.
func grind(n int) {
	runtime.GOMAXPROCS(GrindProcs)
	var done sync.WaitGroup
	never := make(chan bool)
	for range Crowd {
		done.Go(func() { <-never })
	}
	time.Sleep(20 * time.Millisecond) // until all of them wait
	var grinding sync.WaitGroup
	for w := range Grinders {
		grinding.Add(1)
		scope.Go(fmt.Sprintf("grinder %d", w+1), func() {
			defer grinding.Done()
			for i := range n {
				end := scope.Task(Grind)
				busy(2 * time.Millisecond)
				end()
				if w == Grinders-1 && i%8 == 7 {
					end := scope.Task(Collect)
					runtime.GC()
					end()
				}
			}
		})
	}
	grinding.Wait()
	close(never)
	done.Wait()
}

// crowd is a program of n goroutines at once: half of them have one name, the others one
// of three stems with a number. Each does five jobs in two steps, and waits in one of them
// for a lock that it shares with some others.
func crowd(n int) {
	var locks [64]sync.Mutex
	var done sync.WaitGroup
	for i := range n {
		name := "handler"
		if i%2 == 1 {
			name = fmt.Sprintf("%s %d", []string{"reader", "writer", "timer"}[i/2%3], i/6+1)
		}
		done.Add(1)
		scope.Go(name, func() {
			defer done.Done()
			for k := range 5 {
				end := scope.Task("job", scope.KV("number", k))
				step := scope.Task("step")
				time.Sleep(time.Duration(1+i%7) * time.Millisecond)
				step()
				if k == i%5 {
					unlock := scope.Lock(&locks[i%len(locks)], "crowd.mu")
					time.Sleep(100 * time.Microsecond)
					unlock()
				}
				end()
			}
		})
	}
	done.Wait()
}

func rebuild(mu *sync.Mutex) {
	defer scope.Task(Holder, scope.KV("reason", "too many entries"))()
	defer scope.Lock(mu, Lock)()
	time.Sleep(longHold)
}

func job(mu *sync.Mutex, w, i, n int) {
	defer scope.Task(Parent, scope.KV("number", i))()
	file, parse := fmt.Sprintf("file-%d-%d.go", w, i), 500*time.Microsecond
	if w == Workers-1 && i == n-1 {
		file, parse = Longest, 40*time.Millisecond
	}
	read := scope.Begin("read", scope.KV("file", file))
	time.Sleep(300 * time.Microsecond)
	read.End(scope.KV("bytes", 1000+i))
	func() {
		begin := time.Now()
		defer func() { parsed(file, time.Since(begin)) }()
		defer scope.Task("parse", scope.KV("file", file))()
		lex := scope.Begin("lex")
		busy(parse / 4)
		lex.End()
		time.Sleep(3 * parse / 4)
	}()
	func() {
		defer scope.Task("save")()
		defer scope.Lock(mu, Lock)()
		busy(100 * time.Microsecond)
	}()
	scope.Counter("queue", n-i)
	if i%10 == 0 {
		scope.Event("tenth", scope.KV("worker", w+1))
	}
}

// took has the duration of the scope that is to be the longest, and the longest of the others.
var took struct {
	sync.Mutex
	longest, other time.Duration
}

func parsed(file string, d time.Duration) {
	took.Lock()
	defer took.Unlock()
	if file == Longest {
		took.longest = d
	} else {
		took.other = max(took.other, d)
	}
}

// busy computes for a duration.
func busy(d time.Duration) {
	for begin := time.Now(); time.Since(begin) < d; {
	}
}

// ticks records n scopes called tick, 20 ms apart, and prints the moment at
// which each was recorded, in nanoseconds of Unix time; then it waits inside
// another scope, to be killed.
func ticks(n int) {
	scope.Track("ticker")
	for i := range n {
		end := scope.Task("tick", scope.KV("i", i))
		time.Sleep(time.Millisecond)
		end()
		fmt.Println(time.Now().UnixNano())
		time.Sleep(19 * time.Millisecond)
	}
	defer scope.Task("waiting for the end")()
	time.Sleep(time.Minute)
}

// many records n scopes on 8 rows, at a pace that every disk follows: 24 names,
// two deep, of very different durations, one in ten with an argument.
func many(n int) {
	const rows, perMS = 8, 60
	names := make([]string, 24)
	for i := range names {
		names[i] = fmt.Sprintf("%s %d", []string{"read", "parse", "check", "gzip", "merge", "lookup", "update", "commit"}[i%8], i/8)
	}
	var done sync.WaitGroup
	for row := range rows {
		done.Go(func() {
			scope.Track(fmt.Sprintf("worker %d", row+1))
			random := rand.New(rand.NewPCG(1, uint64(row)))
			begin := time.Now()
			share := n*(row+1)/rows - n*row/rows
			for i := range share {
				if i%perMS == 0 {
					time.Sleep(time.Until(begin.Add(time.Duration(i/perMS) * time.Millisecond)))
				}
				if i%2 == 1 {
					continue
				}
				outer := scope.Begin(names[random.IntN(12)])
				spin(random)
				if i+1 < share {
					inner(names[12+random.IntN(12)], i, random)
				}
				outer.End()
			}
		})
	}
	done.Wait()
}

func inner(name string, i int, random *rand.Rand) {
	if i%10 == 0 {
		defer scope.Task(name, scope.KV("bytes", random.IntN(100_000)))()
	} else {
		defer scope.Task(name)()
	}
	spin(random)
}

var spun atomic.Uint64 // keeps the result of spin

// spin usually computes for a few nanoseconds, and sometimes for some microseconds.
func spin(random *rand.Rand) {
	n := uint64(0)
	for range 1 << random.IntN(11) {
		n = n*31 + 7
	}
	if n == 1 {
		spun.Add(n)
	}
}

// goroutines runs n short-lived goroutines with a scope each.
func goroutines(n int) {
	var done sync.WaitGroup
	slots := make(chan bool, 100)
	for range n {
		slots <- true
		done.Go(func() {
			defer scope.Task("short")()
			<-slots
		})
	}
	done.Wait()
}

// deep nests n scopes.
func deep(n int) {
	defer scope.Task(fmt.Sprintf("level %d", n%10))()
	if n > 1 {
		deep(n - 1)
	}
	time.Sleep(10 * time.Microsecond)
}

// long records n names of 1 KiB.
func long(n int) {
	for i := range n {
		end := scope.Task(fmt.Sprintf("%04d %s", i, strings.Repeat("long ", 300)), scope.KV("text", strings.Repeat("argument ", 100)))
		time.Sleep(time.Millisecond)
		end()
	}
}
