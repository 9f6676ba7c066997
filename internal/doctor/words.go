package doctor

import (
	"fmt"
	"strings"

	"github.com/scopeview/scopeview/internal/show"
	"github.com/scopeview/scopeview/internal/states"
)

// This file has the sentences of all findings. Rules return facts, which are numbers and
// names, so that all findings are worded alike.

// Meanings describe each problem in a few words.
var Meanings = map[Verdict]string{
	lockContention:       "goroutines wait for a lock",
	fatCriticalSection:   "a lock is held most of the time, for work that could be done without it",
	serialization:        "several goroutines work, but one at a time, each waking the next",
	workInflation:        "the same work takes more CPU time the more run at once",
	memoryBandwidth:      "the same, because memory can't be moved faster (--membench)",
	loadImbalance:        "some goroutines of a group have more work, and the others wait for them",
	tooFine:              "goroutines are created for less work than they cost",
	oversubscription:     "more goroutines want to run than there are cores, and switching is costly",
	notEnoughParallelism: "one goroutine runs alone for much of the time",
	gc:                   "the garbage collector takes the cores",
	channel:              "hand-offs through channels stop both sides",
	convoy:               "a queue for a lock that does not drain",
	spinning:             "goroutines poll instead of blocking",
	pageFaults:           "the program keeps touching new memory, and the kernel provides the pages",
	blockingUnderLock:    "a lock is held while its holder waits for something else",
}

// tries are the advice on changing the program. They contain no names; the finding names the
// object.
var tries = map[Verdict]string{
	lockContention:       "Give each goroutine its own copy of the guarded data, and merge the copies at the end; or split the data into shards by key, with a lock each; or do less under the lock: prepare before it, and read through a copy or an atomic pointer.",
	fatCriticalSection:   "Move the work named above out of the critical section: compute it before Lock from data that needs no lock, or copy the data under the lock and do the work after Unlock.",
	serialization:        "Let several goroutines work at once: hand on as soon as the next one can begin, not when all is done; work in batches or parts that do not need each other's results; and put the results in order at the end.",
	workInflation:        "Keep goroutines from writing to the same cache lines: give each its own counters and buffers, padded to 64 bytes, and add them up at the end; use fewer goroutines where they wait for memory.",
	memoryBandwidth:      "Move less memory: work on blocks that stay in the cache, go over the data once and not once for each step, and store it smaller; more cores do not help.",
	loadImbalance:        "Distribute the work as it is done: let the goroutines take small parts from a common counter or channel, the largest first, instead of one fixed part each.",
	tooFine:              "Create fewer goroutines: a fixed number of workers that take many items each, or a limit below which a call does the work itself.",
	oversubscription:     "Run as many workers as there are cores, from a pool or with a semaphore, instead of a goroutine for each item; set GOMAXPROCS to the CPUs that the program may use.",
	notEnoughParallelism: "Split the part that runs alone over several goroutines, by parts of the data, or do it while the others work: begin it earlier or overlap it with the next step.",
	gc:                   "Allocate less on the source lines that allocate most: reuse buffers (a slice or strings.Builder that is kept, sync.Pool), make slices and maps with their final size, return no copies; only then raise GOGC or set GOMEMLIMIT.",
	channel:              "Hand on several values at a time, as a slice; give the channel a buffer for bursts; or let one goroutine do the work of both where a hand-off is not needed.",
	convoy:               "Take the lock less often: gather several changes and make them under one Lock, split the guarded data into shards with a lock each, or use an atomic value for data that is only counted or read.",
	spinning:             "Block instead of polling: a channel, sync.Cond, a WaitGroup or a timer wakes the goroutine when there is something to do.",
	pageFaults:           "Keep memory and reuse it: one buffer for many rounds, sync.Pool, or a lasting mapping, instead of taking new memory and giving it back each time.",
	blockingUnderLock:    "Move the wait (I/O, a sleep, a channel, another lock) before Lock or after Unlock: copy the data under the lock, unlock, wait, and lock again to store the result.",
}

// Meaning returns the meaning of a verdict, complete without that of the verdict before.
func (v Verdict) Meaning() string {
	if rest, ok := strings.CutPrefix(Meanings[v], "the same,"); ok {
		return Meanings[workInflation] + "," + rest
	}
	return Meanings[v]
}

// facts are the result of a rule. m and f have what all findings have in common.
type facts interface {
	words(m *model, f *Finding) words
}

// words are the sentences of a finding. Each is safe to show.
type words struct {
	text     string
	advice   string // what to change, as the start of the sentence with the gain; if that is unknown, the whole sentence
	evidence []string
}

// These marks enclose the trace's names in all sentences, until they are shown: no shown
// name has a control character.
const nameBegins, nameEnds = "\x0e", "\x0f"

// named is a name as sentences have it, safe to show.
func named(name string) string { return marked(show.Name(name)) }

// marked is like named for text that is already safe to show.
func marked(text string) string {
	if text == "" {
		return ""
	}
	return nameBegins + text + nameEnds
}

// plain returns a sentence without marks.
func plain(text string) string {
	return strings.NewReplacer(nameBegins, "", nameEnds, "").Replace(text)
}

// Words are the sentences of a finding.
type Words struct {
	Text     string
	Evidence []string
	Try      string // what to change in the program
	Holder   string // holder of the lock that it is about, and its share; "": no lock, or not known
}

// Words returns the sentences, with the function name applied to the trace's names in them
// and prose to the rest: a name may contain anything.
func (f *Finding) Words(name, prose func(string) string) Words {
	w := Words{Text: ReplaceMarks(f.sentences.text, name, prose), Try: ReplaceMarks(tries[f.Verdict], name, prose), Holder: ReplaceMarks(f.holder, name, prose)}
	for _, e := range f.sentences.evidence {
		w.Evidence = append(w.Evidence, ReplaceMarks(e, name, prose))
	}
	return w
}

// Noted returns the notes, with name and prose applied as in Words.
func (r *Report) Noted(name, prose func(string) string) (list []string) {
	for _, n := range r.markedNotes {
		list = append(list, ReplaceMarks(n, name, prose))
	}
	return list
}

// ReplaceMarks returns a sentence with its marks replaced, as in Words.
func ReplaceMarks(text string, name, prose func(string) string) string {
	var b strings.Builder
	for text != "" {
		before, rest, ok := strings.Cut(text, nameBegins)
		if before != "" {
			b.WriteString(prose(before))
		}
		if !ok {
			break
		}
		var own string
		own, text, _ = strings.Cut(rest, nameEnds)
		b.WriteString(name(own))
	}
	return b.String()
}

// say makes the sentences of a finding whose gain has been computed.
func (f *Finding) say(m *model) {
	f.sentences = f.facts.words(m, f)
	w := &f.sentences
	if f.Gain == unknownGain {
		w.text += " " + w.advice + "."
	} else {
		w.text += fmt.Sprintf(" %s, the run would be %s shorter.", w.advice, show.Percent(f.Gain))
	}
	f.Text = plain(w.text)
	for _, e := range w.evidence {
		f.Evidence = append(f.Evidence, plain(e))
	}
}

func (x blockingFacts) words(m *model, f *Finding) words {
	in, why := "", ""
	if x.in != "" {
		in = " in " + named(x.in)
	}
	if len(x.states) > 0 {
		var how []string
		for _, s := range x.states {
			how = append(how, offCPU[s])
		}
		why = " (" + strings.Join(how, ", ") + ")"
	}
	return words{
		text: fmt.Sprintf("%s is held%s while its holder waits%s: others wait for it meanwhile, for %s of the time.",
			x.u.begin(), in, why, show.Percent(f.Share)),
		advice: "If the holder waited before locking or after unlocking",
		evidence: append(x.u.evidence(m), fmt.Sprintf("the holder was off the CPU%s for %s of the hold time that others waited for",
			why, show.Percent(float64(x.u.blocked)/float64(x.u.holdWaited)))),
	}
}

// offCPU describes the state of a waiting holder.
var offCPU = map[states.State]string{
	states.Sleep: "asleep", states.Network: "waiting for the network", states.Blocked: "in a system call", states.Channel: "waiting for a channel",
	states.Select: "waiting in a select", states.Join: "waiting in a WaitGroup", states.Cond: "waiting in a Cond",
}

func (x fatFacts) words(m *model, _ *Finding) words {
	u := x.u
	w := words{
		text: fmt.Sprintf("%s is held for %s of the time; %s of that is spent in %s, %s.",
			u.begin(), show.Percent(u.used), show.Percent(x.part), quoted(x.names), u.while(m)),
		advice:   "Without that work under the lock",
		evidence: u.evidence(m),
	}
	for _, n := range x.names {
		w.evidence = append(w.evidence, fmt.Sprintf("%s takes %s of the time under the lock", named(n), show.Percent(float64(u.inside[m.id(n)])/float64(u.hold))))
	}
	return w
}

func (x convoyFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("Goroutines queue for %s: for %s of the time more of them wait than the %s could run, %.1f on average, %s.",
			x.u.called(), show.Percent(f.Share), cores(m), float64(x.u.wait)/float64(m.span()), x.u.while(m)),
		advice:   unwaited,
		evidence: x.u.evidence(m),
	}
}

func (x contentionFacts) words(m *model, f *Finding) words {
	return words{
		text:     fmt.Sprintf("Waiting for %s takes %s of the time of the %s, %s.", x.u.called(), show.Percent(f.Share), cores(m), x.u.while(m)),
		advice:   unwaited,
		evidence: x.u.evidence(m),
	}
}

// unwaited begins the sentence with the gain of fixing a lock.
const unwaited = "If no goroutine had to wait for it"

// evidence returns the sentences that all findings about a lock have.
func (u *use) evidence(m *model) []string {
	e := fmt.Sprintf("%s waits for %s took %s in all, %s on average", show.Count(u.waits), u.called(), show.Duration(u.wait), show.Duration(u.wait/max(u.waits, 1)))
	if u.l.acquired > 0 {
		e += fmt.Sprintf("; %s of %s acquisitions had to wait", show.Percent(float64(u.l.contended)/float64(u.l.acquired)), show.Count(u.l.acquired))
	}
	list := []string{e}
	if ns, n := u.l.whole(); ns > 0 && u.used > 0 {
		held := fmt.Sprintf("it is held for %s of the time, on average for %s", show.Percent(u.used), show.Duration(ns/n))
		if a := u.account(); a.missing() >= minMentioned {
			held = "by the recorded holds, " + held
		} else {
			held += fmt.Sprintf(": it can be acquired at most %s times a second", show.Count(int64(1e9*float64(n)/float64(ns))))
		}
		list = append(list, held)
	}
	if text := u.unaccounted(m); text != "" {
		list = append(list, text)
	}
	if !u.l.every && !u.l.place {
		known := "only the number"
		if len(u.l.addrs) > 0 {
			known = "nothing"
		}
		list = append(list, known+" is known of holds without waiters; scope.WithLockThreshold(scope.LocksAll) records all")
	}
	if names := m.most(u.waiters, u.wait); len(names) > 0 {
		list = append(list, "the waiters were in "+quoted(names))
	}
	if u.l.place {
		list = append(list, "it is not a lock of package scope: waits and wakers are known, the length of holds is not")
	}
	return list
}

// called returns the lock's name for the middle of a sentence.
func (u *use) called() string { return u.l.called() }

// called returns the name of a lock in a sentence.
func (l *lock) called() string {
	switch n := len(l.addrs); {
	case n > 1 && l.object:
		return fmt.Sprintf("the %d locks %s", n, named(l.name))
	case n > 1:
		return fmt.Sprintf("the %d locks without a name in %s", n, named(l.name))
	case n == 1 && !l.object:
		return "the lock in " + named(l.name)
	case l.place:
		return "the lock in " + marked(l.name)
	}
	return "lock " + named(l.name)
}

// begin returns called for the beginning of a sentence.
func (u *use) begin() string {
	s := u.called()
	return strings.ToUpper(s[:1]) + s[1:]
}

// while describes the scope of the holder.
func (u *use) while(m *model) string {
	holder := u.holder(m)
	switch {
	case holder == "":
		return "while it is held outside any scope"
	case len(u.l.holds) == 0:
		return "with most unlocks in " + holder
	}
	scope, share, _ := strings.Cut(holder, nameEnds)
	return "while " + scope + nameEnds + " holds it" + share
}

// holder returns the scope of the holder, with its part of the time; "" if it is in none.
func (u *use) holder(m *model) string {
	weight := u.aroundOf()
	names := m.most(u.around, weight)
	if len(names) == 0 {
		return ""
	}
	share := ""
	if x := u.around[m.id(names[0])]; weight > 0 {
		share = fmt.Sprintf(" (%s of it)", show.Percent(float64(x)/float64(weight)))
	}
	return named(names[0]) + share
}

func (x retryFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("%s is tried repeatedly: failed attempts take %s of the time of the %s, in %s.",
			named(f.Object), show.Percent(f.Share), cores(m), quoted(f.Scopes)),
		advice:   "Without them",
		evidence: x.u.evidence(m),
	}
}

func (x spinningFacts) words(m *model, f *Finding) words {
	what := "most are in calls used for polling"
	if x.looping > 0 {
		what = show.Count(int64(x.looping)) + " are in a loop that yields, and not in functions that the loop calls"
	}
	return words{
		text: fmt.Sprintf("%s polls in a loop, in %s: that takes %s of the time of the %s.",
			who(x.g), orPlace(f.Object), show.Percent(f.Share), cores(m)),
		advice: "If it blocked instead",
		evidence: []string{fmt.Sprintf("of the %s samples of the CPU profile in %s, %s",
			show.Count(int64(x.samples)), show.Plural(int64(x.goroutines), "goroutine"), what)},
	}
}

func (x serializationFacts) words(_ *model, f *Finding) words {
	at := ""
	if f.Object != "" {
		at = " at " + marked(f.Object)
	}
	return words{
		text: fmt.Sprintf("For %s of the time one goroutine at a time runs, though %d have work: each waits until the previous one hands on its result%s, in %s.",
			show.Percent(f.Share), x.workers, at, quoted(f.Scopes)),
		advice: atOnce(x.work),
		evidence: []string{fmt.Sprintf("%s of %s waits ended because another goroutine handed something on; the busiest one did %s of the work that was done one at a time",
			show.Count(int64(x.handoffs)), show.Count(int64(x.changes)), show.Percent(x.busiest))},
	}
}

// atOnce describes the work that would have to run in parallel. A trace can't show whether
// it can: a decoder needs its previous output.
func atOnce(work []scopeShare) string {
	const rest = " would have to run at once; a trace can't show whether it can: work that needs the previous result can't begin earlier"
	var parts []string
	for _, w := range work {
		parts = append(parts, fmt.Sprintf("%s (%s)", named(w.name), show.Percent(w.share)))
	}
	what := strings.Join(parts, ", ")
	switch len(parts) {
	case 0:
		what = "their work"
	case 1:
		what = "several of " + what
	}
	return "For a shorter run, " + what + rest
}

func (x aloneFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("%s runs alone for %s of the time, in %s, while the other cores have nothing to do.",
			who(x.g), show.Percent(f.Share), quoted(f.Scopes)),
		advice:   "Spread over all " + cores(m),
		evidence: []string{fmt.Sprintf("two or more goroutines ran for %s of the time, exactly one for %s", show.Percent(x.more), show.Percent(x.one))},
	}
}

func (x bottleneckFacts) words(_ *model, f *Finding) words {
	made, in := "", ""
	if x.made != "" {
		made = ", created in " + marked(x.made) + ","
	}
	if len(f.Scopes) > 0 {
		in = ", in " + quoted(f.Scopes)
	}
	return words{
		text: fmt.Sprintf("%s%s always has work and runs alone for %s of the time%s: the others wait for it in %s.",
			who(x.g), made, show.Percent(f.Share), in, orPlace(f.Object)),
		advice: atOnce(x.work),
		evidence: []string{fmt.Sprintf("for %s of the time it runs alone while others wait at a channel or a Cond; it waits itself for %s of the time",
			show.Percent(x.served), show.Percent(x.waits))},
	}
}

func (x imbalanceFacts) words(_ *model, f *Finding) words {
	at := "one place"
	if f.Object != "" {
		at = marked(f.Object)
	}
	return words{
		text: fmt.Sprintf("The goroutines created in %s have unequal work: for %s of their time cores are idle because some goroutines are done and others are not, in %s.",
			at, show.Percent(f.Share), quoted(f.Scopes)),
		advice: "With the work evenly distributed",
		evidence: []string{fmt.Sprintf("%s of %s end together at a wait; in the worst one the longest ran for %s, the mean was %s",
			show.Plural(int64(x.groups), "group"), show.Plural(int64(x.members), "goroutine"), show.Duration(x.longest), show.Duration(x.mean))},
	}
}

func (x tooFineFacts) words(_ *model, f *Finding) words {
	in := orPlace(f.Object)
	if x.places > 1 {
		in += fmt.Sprintf(" and %s more", show.Plural(int64(x.places-1), "place"))
	}
	return words{
		text: fmt.Sprintf("%s goroutines are created in %s for %s of work each: creating them, switching to them and waiting for them takes %s of the CPU time.",
			show.Count(int64(x.goroutines)), in, show.Duration(x.median), show.Percent(f.Share)),
		advice:   "With more work for each",
		evidence: []string{fmt.Sprintf("half of them run for less than %s; one costs about %s to create, switch to, end and wait for", show.Duration(x.median), show.Duration(x.each))},
	}
}

func (x inflationFacts) words(m *model, f *Finding) words {
	name := named(f.Scopes[0])
	causes := "Possible causes: memory bandwidth (scopeview membench measures it), cache lines that several goroutines write, and cores that are threads of one core."
	evidence := []string{fmt.Sprintf("over %s executions the CPU time grows with the number of running goroutines to the power of %.2f (%.1f standard errors from 0)",
		show.Count(int64(x.n)), x.slope, x.t)}
	if m.bandwidth != nil {
		text := "scopeview membench did not measure several cores"
		if p := x.memory; p.Cores >= 2 {
			text = fmt.Sprintf("by scopeview membench, %d cores at once take %s times as long to move the same memory, and %s times as long to compute", p.Cores, show.Ratio(p.Memory), show.Ratio(p.Compute))
		}
		if x.confirmed {
			causes = fmt.Sprintf("It waits for memory, which %.0f cores saturate.", x.at)
		} else {
			text += ": memory alone does not explain the growth"
		}
		evidence = append(evidence, text)
	}
	return words{
		text:     fmt.Sprintf("%s takes %s times the CPU time when %.1f goroutines run at once: that is %s of all running time. %s", name, show.Ratio(x.factor), x.at, show.Percent(f.Share), causes),
		advice:   "Without it",
		evidence: evidence,
	}
}

func (x threadsFacts) words(m *model, _ *Finding) words {
	what := show.Percent(x.share) + " of their time goroutines wait for a thread that has a CPU"
	so := "and for "
	if x.putOff {
		so, what = "so that ", "the system preempted running goroutines for "+show.Percent(x.share)+" of their time"
	}
	return words{
		text: fmt.Sprintf("There are more threads than CPUs: GOMAXPROCS is %d and the program may use %s (%s), %s%s.",
			m.procs, cores(m), m.cores.Why, so, what),
		advice: "With GOMAXPROCS set to the number of CPUs the run might be shorter; a trace can't show by how much",
	}
}

func (x switchingFacts) words(m *model, f *Finding) words {
	by := ""
	if x.yielding {
		by = ", mostly because they yield"
		if f.Object != "" {
			by += " in " + marked(f.Object)
		}
	}
	return words{
		text: fmt.Sprintf("%.1f goroutines want to run on %s at once and spend %s of their time waiting for one, in %s. They are switched %s times a second%s, and each may find its data evicted from the cache.",
			x.wanting, cores(m), show.Percent(f.Share), quoted(f.Scopes), show.Count(m.rate(x.cuts)), by),
		advice: "With as many goroutines as cores the run might be shorter; a trace can't show by how much, as it has no cache contents",
		evidence: []string{fmt.Sprintf("they run for %s at a time; a switch is assumed to cost %s for reading data into the cache again, which depends on the program",
			show.Duration(x.ran/int64(max(x.cuts, 1))), show.Duration(refill))},
	}
}

func (x collectorFacts) words(m *model, f *Finding) words {
	in := ""
	if len(f.Scopes) > 0 {
		in = ", mostly in " + quoted(f.Scopes[:1])
	}
	w := words{
		text: fmt.Sprintf("The garbage collector takes %s of all running time, and goroutines help it for %s of theirs%s.",
			show.Percent(x.cpu), show.Percent(x.helping), in),
		advice:   "Without garbage",
		evidence: []string{fmt.Sprintf("its workers ran for %s, and goroutines helped for %s; a higher GOGC trades memory for part of that", show.Duration(x.workers), show.Duration(x.assist))},
	}
	if x.made > 0 {
		w.evidence = append(w.evidence, fmt.Sprintf("by the CPU profile, %s of the program's own time goes into allocating", show.Percent(x.made)))
	}
	if m.beats.gcPause > 0 {
		w.evidence = append(w.evidence, "it stopped the world for "+show.Duration(m.beats.gcPause)+" in all")
	}
	return w
}

func (x faultFacts) words(m *model, f *Finding) words {
	b := &m.beats
	return words{
		text: fmt.Sprintf("Page faults take up to %s of the CPU time: the program touches new memory %s times a second, mostly in %s.",
			show.Percent(f.Share), show.Count(int64(float64(x.faults)*1e9/float64(max(b.over, 1)))), quoted(f.Scopes)),
		advice: "With memory that it keeps and reuses",
		evidence: []string{fmt.Sprintf("%s page faults, %s of them with I/O, and %s of system time in %s of CPU time",
			show.Count(x.faults), show.Count(b.major), show.Duration(b.system), show.Duration(b.user+b.system))},
	}
}

func (x senderFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("Senders in %s wait for %s of the time of the %s for a receiver that is busy with an earlier value, in %s.",
			orPlace(f.Object), show.Percent(f.Share), cores(m), quoted(f.Scopes)),
		advice:   "With a buffer for bursts",
		evidence: []string{fmt.Sprintf("%s waits to send there, %s on average", show.Count(int64(x.waits)), show.Duration(x.mean))},
	}
}

func (x handingFacts) words(m *model, f *Finding) words {
	rate, of := show.Count(m.rate(x.waits)), show.Percent(f.Share)
	waits, cost := show.Count(int64(x.waits))+" waits for a channel, in a select or for a Cond", "; each is assumed to cost "+show.Duration(handoffCost)
	if x.places == 0 {
		return words{
			text: fmt.Sprintf("Goroutines hand on values %s times a second in %s, each time with a switch: that takes %s of the time of the %s.",
				rate, orPlace(f.Object), of, cores(m)),
			advice:   "With several values at a time",
			evidence: []string{waits + " there" + cost},
		}
	}
	return words{
		text: fmt.Sprintf("Goroutines hand on values %s times a second, mostly in %s: switching between them takes about %s of the CPU time, and more where they wake each other across CPUs.",
			rate, orPlace(f.Object), of),
		advice:   "With several values at a time, or fewer processors, the run might be shorter; a trace can't show by how much: scopeview scale runs it with several numbers of processors",
		evidence: []string{waits + " in " + show.Plural(int64(x.places), "place") + cost},
	}
}

// cores returns the number of cores for a sentence.
func cores(m *model) string {
	if c := m.cores.Count; c != float64(int64(c)) {
		return fmt.Sprintf("%.1f cores", c)
	}
	return show.Plural(int64(m.cores.Count), "core")
}

// who returns a goroutine's name for the beginning of a sentence.
func who(g *gor) string {
	switch {
	case g.track != "":
		return "The goroutine " + named(g.track)
	case g.id == 1:
		return "The main goroutine"
	}
	return fmt.Sprintf("Goroutine %d", g.id)
}

func orPlace(object string) string {
	if object == "" {
		return "an unknown place"
	}
	return marked(object)
}

// quoted returns scope names for a sentence.
func quoted(names []string) string {
	switch len(names) {
	case 0:
		return "no scope"
	case 1:
		return named(names[0])
	}
	return named(names[0]) + " and " + named(names[1])
}

// ofMerged explains why most rules can't examine a trace merged from n processes.
func ofMerged(n int) Unexamined {
	return Unexamined{
		Why: fmt.Sprintf("the trace was merged from %d processes, which have their own states and processors", n),
		How: "run scopeview doctor on the original traces; scopeview waits shows all locks of this one",
	}
}
