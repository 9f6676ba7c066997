package std

import (
	"slices"
	"strconv"

	"github.com/scopeview/scopeview/internal/format"
)

// hook is a row of the table: edits, and what they need.
type hook struct {
	name  string
	what  string
	group string // groups of diagnostics, separated by spaces; "": in every build
	edits []edit
	vars  []variable
	code  []code
	added []source
}

// source is a file added to the standard library, by its path below src.
type source struct{ path, text string }

// variable is declared in a package of the standard library, and set to the function to of
// package scope/hooks. If it is no function, or to begins with &, its address is passed to
// that function.
type variable struct{ dir, name, typ, to string }

func (v variable) declare() string {
	return "//go:linkname " + v.name + "\nvar " + v.name + " " + v.typ
}

// code is text added to a package.
type code struct {
	dir     string
	text    string
	imports []string
}

// what returns the value that describes a lock: its kind, and whether it is shared.
func what(k format.LockKind, shared bool) string {
	mode := format.LockExclusive
	if shared {
		mode = format.LockShared
	}
	return strconv.FormatUint(format.LockSlot(k, mode), 10)
}

const (
	waitType   = "func(addr uintptr, what uint64) (a, b, c int64)"
	waitedType = "func(addr uintptr, what uint64, a, b, c int64)"
	unlockType = "func(addr uintptr, what uint64)"
)

var (
	mutex   = what(format.LockMutex, false)
	writes  = what(format.LockRWMutex, false)
	reads   = what(format.LockRWMutex, true)
	waits   = variable{"sync", "scopeviewWait", waitType, "wait"}
	waited  = variable{"sync", "scopeviewWaited", waitedType, "waited"}
	unlocks = variable{"sync", "scopeviewUnlock", unlockType, "unlock"}
)

// ignored returns, for packages with locks, how often the goroutine has disabled the race
// detector.
var ignored = code{dir: "runtime", text: `//go:linkname scopeviewIgnored
func scopeviewIgnored() int8 { return getg().raceignore }`}

// heeding has the functions that a package calls around a hook, because package sync
// disables the race detector while it waits. With it disabled, the recorder's own locks
// would be invisible to it, and the recorder look racy.
func heeding(dir string) code {
	return code{dir: dir, imports: []string{"internal/race", "unsafe"}, text: `//go:linkname scopeviewIgnored runtime.scopeviewIgnored
func scopeviewIgnored() int8

func scopeviewHeeds() (n int8) {
	if race.Enabled {
		n = scopeviewIgnored()
		for range n {
			race.Enable()
		}
	}
	return n
}

func scopeviewIgnores(n int8) {
	for range n {
		race.Disable()
	}
}`}
}

// heeded returns the call of a hook, with the race detector enabled.
func heeded(call string) string {
	return "scopeviewN := scopeviewHeeds(); " + call + "; scopeviewIgnores(scopeviewN)"
}

// mutexCode and syncCode are the code that a mutex, and package sync, need to call their hooks.
var (
	mutexCode = []code{ignored, heeding("internal/sync")}
	syncCode  = []code{ignored, heeding("sync"), waiting}
)

// waiting has the functions that package sync calls around a park.
var waiting = code{dir: "sync", imports: []string{"unsafe"}, text: `func scopeviewWaits(of unsafe.Pointer, what uint64) (a, b, c int64) {
	if h := scopeviewWait; h != nil {
		n := scopeviewHeeds()
		a, b, c = h(uintptr(of), what)
		scopeviewIgnores(n)
	}
	return a, b, c
}

func scopeviewGoesOn(of unsafe.Pointer, what uint64, a, b, c int64) {
	if b != 0 {
		n := scopeviewHeeds()
		scopeviewWaited(uintptr(of), what, a, b, c)
		scopeviewIgnores(n)
	}
}`}

// around returns an edit that turns a statement of package sync into a wait.
func around(file, function, statement, of, what string) edit {
	return edit{file: file, function: function, at: statement, instead: true,
		insert: "scopeviewA, scopeviewB, scopeviewC := scopeviewWaits(unsafe.Pointer(" + of + "), " + what + "); " +
			statement + "; scopeviewGoesOn(unsafe.Pointer(" + of + "), " + what + ", scopeviewA, scopeviewB, scopeviewC)"}
}

// blocking has the functions that the runtime calls around a park on a channel. Waits are
// sampled before, as reading the clock takes a good part of a short one.
var blocking = code{dir: "runtime", text: `func scopeviewBlocks() int64 {
	if scopeviewBlocked == nil {
		return 0
	}
	of := scopeviewOneOf
	if of != 0 && (of > 31 || cheaprand()>>(32-of) != 0) {
		return 0
	}
	return nanotime()<<5 | int64(of)
}

//go:noinline
func scopeviewGoesOn(c *hchan, what uint64, began int64) {
	if gp := getg(); gp == gp.m.curg && gp.m.locks == 0 && !scopeviewOwn() {
		scopeviewBlocked(uintptr(unsafe.Pointer(c)), what, nanotime()-began>>5, uint32(began&31))
	}
}

// scopeviewOwn reports whether the runtime itself waits, as it does to start a collection: then
// an allocation would wait for that.
//
//go:noinline
func scopeviewOwn() bool {
	var pcs [5]uintptr
	n := 0
	if framepointer_enabled {
		var wrong bool
		n = scopeviewWalk(getg(), &wrong, unsafe.Pointer(getfp()), pcs[:])
	} else {
		n = callers(1, pcs[:])
	}
	for _, pc := range pcs[:n] {
		name := funcname(findfunc(pc))
		switch {
		case !stringslite.HasPrefix(name, "runtime."):
			return false
		case stringslite.HasPrefix(name, "runtime.chan") || stringslite.HasPrefix(name, "runtime.select") || stringslite.HasPrefix(name, "runtime.scopeview"):
		default:
			return true
		}
	}
	return false
}`, imports: []string{"internal/stringslite", "unsafe"}}

var blocked = []variable{
	{"runtime", "scopeviewBlocked", "func(addr uintptr, what uint64, ns int64, of uint32)", "blocked"},
	{"runtime", "scopeviewOneOf", "uint32", "thinOut"},
}

// channel returns the edits of a function that parks on one channel.
func channel(function string, kind format.LockKind) []edit {
	return []edit{
		{file: "runtime/chan.go", function: function, at: "gp.parkingOnChan.Store(true)", behind: true, insert: "; scopeviewBegan := scopeviewBlocks()"},
		{file: "runtime/chan.go", function: function, at: "releaseSudog(mysg)", behind: true, insert: "; if scopeviewBegan != 0 { scopeviewGoesOn(c, " + what(kind, false) + ", scopeviewBegan) }"},
	}
}

// asleep reports to the recorder what checkdead would find without the recorder's goroutines
// and timers.
var asleep = code{dir: "runtime", text: `// scopeviewAsleep reports whether only the recorder's goroutines can ever go on. One of those calls it.
//
//go:linkname scopeviewAsleep
func scopeviewAsleep() (asleep bool) {
	if iscgo || islibrary || isarchive || panicking.Load() > 0 || netpollAnyWaiters() {
		return false
	}
	// The goroutine that was woken makes another thread look for work, too, for some 50 µs.
	for range 1000 {
		spin := sched.nmspinning.Load()
		if spin == 0 || sched.npidle.Load()+spin < gomaxprocs-1 {
			break
		}
		procyield(30)
	}
	if sched.npidle.Load() != gomaxprocs-1 || cheaprandn(1+uint32(len(allgs))/10000) != 0 { // or the lock is held for long too often
		return false
	}
	systemstack(func() {
		lock(&sched.lock) // so no M without a P gets one
		asleep = sched.npidle.Load() == gomaxprocs-1 && gcphase == _GCoff && !scopeviewTimed() && !scopeviewAwake()
		unlock(&sched.lock)
	})
	return asleep
}

// scopeviewTimed reports whether a timer may wake another goroutine.
func scopeviewTimed() bool {
	for _, pp := range allp {
		for _, w := range pp.timers.heap {
			t := w.timer
			if t.state&timerZombie != 0 {
				continue
			}
			if !t.isChan {
				switch to := t.arg.(type) {
				case *g: // which sleeps
					if !isSystemGoroutine(to, false) {
						return true
					}
				case *wakeableSleep: // of Go's execution trace
				default:
					return true
				}
				continue
			}
			s := t.hchan().recvq.first
			if s == nil {
				return true
			}
			for ; s != nil; s = s.next {
				if !isSystemGoroutine(s.g, false) {
					return true
				}
			}
		}
	}
	return false
}

// scopeviewAwake reports whether another goroutine runs, or waits for something other than a goroutine.
func scopeviewAwake() (awake bool) {
	lock(&allglock)
	for _, gp := range allgs {
		switch readgstatus(gp) &^ _Gscan {
		case _Gidle, _Gdead, _Gdeadextra:
			continue
		case _Gwaiting:
			switch gp.waitreason {
			case waitReasonChanReceive, waitReasonChanSend, waitReasonChanReceiveNilChan, waitReasonChanSendNilChan,
				waitReasonSelect, waitReasonSelectNoCases, waitReasonSemacquire, waitReasonSyncCondWait,
				waitReasonSyncMutexLock, waitReasonSyncRWMutexRLock, waitReasonSyncRWMutexLock, waitReasonSyncWaitGroupWait:
				continue
			}
		}
		if !isSystemGoroutine(gp, false) {
			awake = true
			break
		}
	}
	unlock(&allglock)
	return awake
}`}

// table has all hooks.
var table = []hook{
	{
		name: "mutex", what: "waits for a sync.Mutex, and its holders",
		edits: []edit{
			{file: "internal/sync/mutex.go", function: "Mutex.lockSlow", at: "var waitStartTime int64", behind: true, insert: "; var scopeviewA, scopeviewB, scopeviewC int64"},
			{file: "internal/sync/mutex.go", function: "Mutex.lockSlow", at: "runtime_SemacquireMutex(&m.sema, queueLifo, 2)",
				insert: "if h := scopeviewPark; h != nil { " + heeded("scopeviewA, scopeviewB, scopeviewC = h(uintptr(unsafe.Pointer(m)), scopeviewA, scopeviewB, scopeviewC)") + " }; "},
			{file: "internal/sync/mutex.go", function: "Mutex.lockSlow", at: "if race.Enabled {",
				insert: "if scopeviewB != 0 { " + heeded("scopeviewWaited(uintptr(unsafe.Pointer(m)), "+mutex+", scopeviewA, scopeviewB, scopeviewC)") + " }; "},
			{file: "internal/sync/mutex.go", function: "Mutex.unlockSlow", at: "if new&mutexStarving == 0 {",
				insert: "if h := scopeviewUnlock; h != nil { " + heeded("h(uintptr(unsafe.Pointer(m)), "+mutex+")") + " }; "},
		},
		code: mutexCode,
		vars: []variable{
			{"internal/sync", "scopeviewPark", "func(addr uintptr, a, b, c int64) (int64, int64, int64)", "park"},
			{"internal/sync", "scopeviewWaited", waitedType, "waited"},
			{"internal/sync", "scopeviewUnlock", unlockType, "unlock"},
		},
	},
	{
		name: "once", what: "waits for the goroutine that runs the function of a sync.Once",
		edits: []edit{{file: "sync/once.go", function: "Once.doSlow", at: "o.m.Lock()"}}, // the mutex has the hook
	},
	{
		name: "rwmutex", what: "waits for a sync.RWMutex, to write and to read, and its holders",
		edits: []edit{
			// RLock is inlined, and so must not cost more.
			{file: "sync/rwmutex.go", function: "RWMutex.RLock", at: "runtime_SemacquireRWMutexR(&rw.readerSem, false, 0)", instead: true, insert: "scopeviewReads(&rw.readerSem, false, 0)"},
			around("sync/rwmutex.go", "RWMutex.Lock", "runtime_SemacquireRWMutex(&rw.writerSem, false, 0)", "rw", writes),
			{file: "sync/rwmutex.go", function: "RWMutex.rUnlockSlow", at: "runtime_Semrelease(&rw.writerSem, false, 1)",
				insert: "if h := scopeviewUnlock; h != nil { " + heeded("h(uintptr(unsafe.Pointer(rw)), "+reads+")") + " }; "},
			{file: "sync/rwmutex.go", function: "RWMutex.Unlock", at: "for i := 0; i < int(r); i++ {",
				insert: "if h := scopeviewUnlock; h != nil && r > 0 { " + heeded("h(uintptr(unsafe.Pointer(rw)), "+writes+")") + " }; "},
		},
		vars: []variable{waits, waited, unlocks},
		code: append(slices.Clip(syncCode), code{dir: "sync", imports: []string{"unsafe"}, text: `func scopeviewReads(s *uint32, lifo bool, skip int) {
	rw := unsafe.Add(unsafe.Pointer(s), -int(unsafe.Offsetof((*RWMutex)(nil).readerSem)))
	a, b, c := scopeviewWaits(rw, ` + reads + `)
	runtime_SemacquireRWMutexR(s, lifo, skip+1)
	scopeviewGoesOn(rw, ` + reads + `, a, b, c)
}`}),
	},
	{
		name: "waitgroup", what: "waits for a sync.WaitGroup",
		edits: []edit{around("sync/waitgroup.go", "WaitGroup.Wait", "runtime_SemacquireWaitGroup(&wg.sema, synctestDurable)", "wg", what(format.LockWaitGroup, false))},
		vars:  []variable{waits, waited}, code: syncCode,
	},
	{
		name: "cond", what: "waits for a sync.Cond",
		edits: []edit{around("sync/cond.go", "Cond.Wait", "runtime_notifyListWait(&c.notify, t)", "c", what(format.LockCond, false))},
		vars:  []variable{waits, waited}, code: syncCode,
	},
	{
		name: "chan", what: "waits to send to a channel, and to receive",
		edits: append(channel("chansend", format.LockSend), channel("chanrecv", format.LockReceive)...),
		vars:  blocked, code: []code{blocking},
	},
	{
		name: "select", what: "waits for one of several channels",
		edits: []edit{
			{file: "runtime/select.go", function: "selectgo", at: "var recvOK bool", behind: true, insert: "; var scopeviewBegan int64"},
			{file: "runtime/select.go", function: "selectgo", at: "gp.parkingOnChan.Store(true)", behind: true, insert: "; scopeviewBegan = scopeviewBlocks()"},
			{file: "runtime/select.go", function: "selectgo", at: "if caseReleaseTime > 0 {",
				insert: "if scopeviewBegan != 0 { scopeviewGoesOn(c, " + what(format.LockSelect, false) + ", scopeviewBegan) }; "},
		},
		vars: blocked, code: []code{blocking},
	},
	{
		name: "go", what: "the creator of each goroutine, and its function",
		edits: []edit{
			{file: "runtime/proc.go", function: "newproc", at: "gp := getg()", behind: true, insert: "; var scopeviewChild uint64; var scopeviewEntry uintptr"},
			{file: "runtime/proc.go", function: "newproc", at: "newg := newproc1(fn, gp, pc, false, waitReasonZero)", behind: true,
				insert: "; if scopeviewGo != nil && !isSystemGoroutine(newg, false) { scopeviewChild = newg.goid; scopeviewEntry = newg.startpc }"},
			{file: "runtime/proc.go", function: "newproc", at: "})", behind: true, last: true,
				// On a thread's own stack, as for time.AfterFunc, no hook can be called.
				insert: "; if h := scopeviewGo; h != nil && scopeviewChild != 0 && gp == gp.m.curg && gp.m.locks == 0 { h(scopeviewChild, scopeviewEntry, pc) }"},
		},
		vars: []variable{{"runtime", "scopeviewGo", "func(child uint64, entry, site uintptr)", "made"}},
	},
	{
		name: "own", what: "the recorder's own goroutines, so that the program counts as many as without a recording",
		edits: []edit{{file: "runtime/traceback.go", function: "isSystemGoroutine", at: `return stringslite.HasPrefix(funcname(f), "runtime.")`, instead: true,
			insert: `name := funcname(f); return stringslite.HasPrefix(name, "runtime.") || scopeviewOwns(name)`}},
		// Goroutines of scope.Go run the program's functions, and are in package record too.
		code: []code{{dir: "runtime", imports: []string{"internal/stringslite"}, text: `func scopeviewOwns(name string) bool {
	const module = "github.com/scopeview/scopeview/"
	if !stringslite.HasPrefix(name, module) {
		return stringslite.HasPrefix(name, "runtime/pprof.StartCPUProfile.") || stringslite.HasPrefix(name, "runtime/trace.")
	}
	name = name[len(module):]
	return stringslite.HasPrefix(name, "internal/advice/count.") || stringslite.HasPrefix(name, "internal/record.(*") || stringslite.HasPrefix(name, "internal/perf.(*") ||
		stringslite.HasPrefix(name, "flusher.(*") || stringslite.HasPrefix(name, "sweeper.(*") || stringslite.HasPrefix(name, "scope/gotrace.")
}`}},
	},
	{
		name: "deadlock", what: "deadlocks of all goroutines of the program, so that Go ends it as without a recording",
		edits: []edit{{file: "runtime/proc.go", function: "checkdead", at: "if len(pp.timers.heap) > 0 {"}}, // it defines a deadlock
		code: []code{asleep, {dir: "scope/hooks", text: `//go:linkname stdAsleep runtime.scopeviewAsleep
func stdAsleep() bool

func init() { asleep(stdAsleep) }`}},
	},
	{
		name: "heap", what: "the recorder's part of a small heap, so that Go's collector does not run more often for it",
		// The minimum goal grows like any goal: by the live heap, and its share of garbage.
		edits: []edit{{file: "runtime/mgcpacer.go", function: "gcControllerState.commit", at: "if gcPercentHeapGoal < c.heapMinimum {",
			insert: "if least := c.heapMinimum + scopeviewHeap + scopeviewHeap*uint64(max(c.gcPercent.Load(), 0))/100; gcPercentHeapGoal < least { gcPercentHeapGoal = least }; "}},
		vars: []variable{{"runtime", "scopeviewHeap", "uint64", "inHeap"}},
	},
	{
		name: "giveback", what: "the program's own use of Go's CPU profile, execution trace or flight recorder, for which the recording stops its own",
		edits: []edit{
			{file: "runtime/pprof/pprof.go", function: "StartCPUProfile", at: "const hz = 100", insert: "if h := scopeviewProfiling; h != nil { defer h(w)() }; "},
			{file: "runtime/trace/trace.go", function: "Start", at: "return tracing.subscribeTraceStartWriter(w)", insert: "if h := scopeviewTracing; h != nil { defer h(w)() }; "},
			{file: "runtime/trace/flightrecorder.go", function: "FlightRecorder.Start", at: "if fr.enabled {", insert: "if h := scopeviewFlying; h != nil { defer h(fr)() }; "},
		},
		vars: []variable{
			{"runtime/pprof", "scopeviewProfiling", "func(w interface{}) func()", "profiling"},
			{"runtime/trace", "scopeviewTracing", "func(w interface{}) func()", "tracing"},
			{"runtime/trace", "scopeviewFlying", "func(recorder interface{}) func()", "flying"},
		},
	},
	{
		name: "exit", what: "the program's end by os.Exit, or by the return of main",
		edits: []edit{
			{file: "os/proc.go", function: "Exit", at: "runtime_beforeExit(code)", insert: "if h := scopeviewExit; h != nil { h(code) }; "},
			{file: "runtime/proc.go", function: "main", at: "exitHooksRun := false", insert: "if h := scopeviewReturned; h != nil { h(0) }; "},
		},
		vars: []variable{
			{"os", "scopeviewExit", "func(code int)", "exit"},
			{"runtime", "scopeviewReturned", "func(code int)", "exit"},
		},
	},
	{
		name: "http", what: "a scope for each request that net/http serves or sends",
		edits: []edit{
			{file: "net/http/server.go", function: "serverHandler.ServeHTTP", at: "handler.ServeHTTP(rw, req)",
				insert: "var scopeviewS scopeviewServing; if scopeviewRequest != nil { scopeviewS.begin(handler, rw, req); defer scopeviewS.end() }; "},
			{file: "net/http/server.go", function: "serverHandler.ServeHTTP", at: "handler.ServeHTTP(rw, req)", behind: true, insert: "; scopeviewS.returned = true"},
			{file: "net/http/roundtrip.go", function: "Transport.RoundTrip", at: "return t.roundTrip(req)",
				insert: "if scopeviewSend != nil { return scopeviewSent(t, req) }; "},
		},
		vars: []variable{
			{"net/http", "scopeviewRequest", "func(ctx interface{}, method, pattern, path, id, parent string, state []string) (next interface{}, a, b int64)", "request"},
			{"net/http", "scopeviewResponded", "func(a, b int64, pattern string, status int, panicked bool)", "responded"},
			{"net/http", "scopeviewSend", "func(ctx interface{}, method, host, path string, traceparents []string) (a, b int64, parent, state string)", "send"},
			{"net/http", "scopeviewAnswered", "func(a, b int64, status int, err interface{})", "answered"},
		},
		code: []code{{dir: "net/http", imports: []string{"context"}, text: httpCode}},
	},
	{
		name: "region", what: "regions, tasks and logs of package runtime/trace, whether or not an execution trace is taken",
		edits: []edit{
			{file: annotations, function: "Task", at: "id uint64", behind: true, insert: "; scopeviewA, scopeviewB int64"},
			{file: annotations, function: "Region", at: "regionType string", behind: true, insert: "; scopeviewA, scopeviewB int64; scopeviewUnrecorded bool"},
			{file: annotations, function: "NewTask", at: "userTaskCreate(id, pid, taskType)", behind: true,
				insert: "; var scopeviewA, scopeviewB int64; if scopeviewTask != nil { pctx, scopeviewA, scopeviewB = scopeviewNew(pctx, id, pid, taskType) }"},
			{file: annotations, function: "NewTask", at: "s := &Task{id: id}", instead: true, insert: "s := &Task{id: id, scopeviewA: scopeviewA, scopeviewB: scopeviewB}"},
			{file: annotations, function: "Task.End", at: "userTaskEnd(t.id)", behind: true, insert: "; scopeviewEnd(t.scopeviewA, &t.scopeviewB)"},
			{file: annotations, function: "Log", at: "userLog(id, category, message)", behind: true, insert: "; if h := scopeviewLogged; h != nil { h(ctx, id, category, message, nil) }"},
			{file: annotations, function: "Logf", at: "if IsEnabled() {", insert: "if h := scopeviewOn; h != nil && h() && ctx != nil { scopeviewLogged(ctx, fromContext(ctx).id, category, format, args) }; "},
			{file: annotations, function: "WithRegion", at: "defer userRegion(id, regionEndCode, regionType)",
				insert: "if h := scopeviewRegion; h != nil { if scopeviewA, scopeviewB := h(ctx, id, regionType); scopeviewB != 0 { defer scopeviewEnded(scopeviewA, scopeviewB) } }; "},
			{file: annotations, function: "StartRegion", at: "return noopRegion", instead: true, insert: "return scopeviewStart(ctx, regionType, noopRegion)"},
			{file: annotations, function: "StartRegion", at: "return &Region{id, regionType}", instead: true,
				insert: "return scopeviewStart(ctx, regionType, &Region{id: id, regionType: regionType})"},
			{file: annotations, function: "Region.End", at: "if r == noopRegion {", insert: "scopeviewEnd(r.scopeviewA, &r.scopeviewB); if r.scopeviewUnrecorded { return }; "},
		},
		vars: []variable{
			{"runtime/trace", "scopeviewOn", "func() bool", "recording"},
			{"runtime/trace", "scopeviewRegion", "func(ctx interface{}, id uint64, name string) (a, b int64)", "region"},
			{"runtime/trace", "scopeviewTask", "func(ctx interface{}, id, parent uint64, name string) (next interface{}, a, b int64)", "task"},
			{"runtime/trace", "scopeviewEnded", "func(a, b int64)", "ended"},
			{"runtime/trace", "scopeviewLogged", "func(ctx interface{}, id uint64, category, text string, args []interface{})", "logged"},
		},
		code: []code{regions},
	},
	{
		name: "labels", what: "profiler labels, by pprof.Do and pprof.SetGoroutineLabels",
		edits: []edit{
			{file: "runtime/pprof/runtime.go", function: "Do", at: "defer SetGoroutineLabels(ctx)", instead: true, insert: "defer scopeviewSet(ctx)"},
			{file: "runtime/pprof/runtime.go", function: "Do", at: "SetGoroutineLabels(ctx)", instead: true, insert: "scopeviewSet(ctx)"},
			{file: "runtime/pprof/runtime.go", function: "Do", at: "f(ctx)",
				insert: "if h := scopeviewDo; h != nil { if scopeviewA, scopeviewB := h(ctx); scopeviewB != 0 { defer scopeviewDone(scopeviewA, scopeviewB) } }; "},
			{file: "runtime/pprof/runtime.go", function: "SetGoroutineLabels", at: "runtime_setProfLabel(unsafe.Pointer(ctxLabels))", behind: true,
				insert: "; if h := scopeviewLabels; h != nil && ctxLabels != nil { h(ctx) }"},
		},
		vars: []variable{
			{"runtime/pprof", "scopeviewDo", "func(ctx interface{}) (a, b int64)", "&labelsHooked"},
			{"runtime/pprof", "scopeviewDone", "func(a, b int64)", "ended"},
			{"runtime/pprof", "scopeviewLabels", "func(ctx interface{})", "labels"},
		},
		code: []code{labels},
	},
	{
		name: "test", what: "a scope and a row for each test",
		edits: []edit{
			{file: "testing/testing.go", function: "tRunner", at: "t.runner = callerName(0)", behind: true, insert: "; var scopeviewA, scopeviewB int64"},
			{file: "testing/testing.go", function: "tRunner", at: "t.start = highPrecisionTimeNow()",
				insert: `if h := scopeviewTest; h != nil && t.name != "" { scopeviewA, scopeviewB = h(t.name, -1) }; `},
			{file: "testing/testing.go", function: "tRunner", at: "t.report()", insert: "if scopeviewB != 0 { scopeviewTested(scopeviewA, scopeviewB, scopeviewResult(&t.common)) }; "},
		},
		vars: tested, code: []code{result},
	},
	{
		name: "parallel", what: "waits of tests in t.Parallel",
		edits: []edit{
			{file: "testing/testing.go", function: "T.Parallel", at: "<-t.parent.barrier",
				insert: `var scopeviewA, scopeviewB int64; if h := scopeviewTest; h != nil { scopeviewA, scopeviewB = h("", -1) }; `},
			{file: "testing/testing.go", function: "T.Parallel", at: "t.tstate.waitParallel()", behind: true, insert: `; if scopeviewB != 0 { scopeviewTested(scopeviewA, scopeviewB, "") }`},
		},
		vars: tested,
	},
	{
		name: "benchmark", what: "a scope for each run of a benchmark",
		edits: []edit{{file: "testing/benchmark.go", function: "B.runN", at: "b.benchFunc(b)",
			insert: "if h := scopeviewTest; h != nil { scopeviewA, scopeviewB := h(b.name, n); defer func() { scopeviewTested(scopeviewA, scopeviewB, scopeviewResult(&b.common)) }() }; "}},
		vars: tested, code: []code{result},
	},
}

// annotations is the file of package runtime/trace with user annotations.
const annotations = "runtime/trace/annotation.go"

// regions has the functions that package runtime/trace calls.
var regions = code{dir: "runtime/trace", imports: []string{"context", "sync/atomic"}, text: `func scopeviewStart(ctx context.Context, name string, r *Region) *Region {
	if scopeviewOn == nil || !scopeviewOn() || ctx == nil {
		return r
	}
	id := fromContext(ctx).id
	a, b := scopeviewRegion(ctx, id, name)
	if b == 0 {
		return r
	}
	if r == noopRegion {
		r = &Region{id: id, regionType: name, scopeviewUnrecorded: true}
	}
	r.scopeviewA, r.scopeviewB = a, b
	return r
}

func scopeviewNew(ctx context.Context, id, parent uint64, name string) (context.Context, int64, int64) {
	next, a, b := scopeviewTask(ctx, id, parent, name)
	return next.(context.Context), a, b
}

func scopeviewEnd(a int64, b *int64) {
	if atomic.LoadInt64(b) != 0 {
		if b := atomic.SwapInt64(b, 0); b != 0 {
			scopeviewEnded(a, b)
		}
	}
}`}

// labels has the function that pprof.Do calls: it sets labels without a hook.
var labels = code{dir: "runtime/pprof", imports: []string{"context", "unsafe"}, text: `func scopeviewSet(ctx context.Context) {
	ctxLabels, _ := ctx.Value(labelContextKey{}).(*labelMap)
	runtime_setProfLabel(unsafe.Pointer(ctxLabels))
}`}

var tested = []variable{
	{"testing", "scopeviewTest", "func(name string, n int) (a, b int64)", "test"},
	{"testing", "scopeviewTested", "func(a, b int64, result string)", "tested"},
}

var result = code{dir: "testing", text: `func scopeviewResult(c *common) string {
	switch {
	case c.Failed():
		return "fail"
	case c.Skipped():
		return "skip"
	}
	return "pass"
}`}
