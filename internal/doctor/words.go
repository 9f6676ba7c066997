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
	serialization:        "several work, but one at a time, each waking the next",
	workInflation:        "the same work takes more CPU time the more run at once",
	memoryBandwidth:      "the same, because memory can't be moved faster (--membench)",
	loadImbalance:        "some of a group have more to do, and the others wait for them",
	tooFine:              "goroutines are made for less work than they cost",
	oversubscription:     "more want to run than there are cores, and switching costs",
	notEnoughParallelism: "one goroutine runs alone for much of the time",
	gc:                   "the garbage collector takes the cores",
	channel:              "hand-offs through channels stop both sides",
	convoy:               "a queue for a lock that does not go away",
	spinning:             "goroutines run in order to wait",
	pageFaults:           "the kernel makes pages, again and again",
	blockingUnderLock:    "a lock is held while its holder waits for something else",
}

// tries are the advice on changing the program. They contain no names; the finding names the
// object.
var tries = map[Verdict]string{
	lockContention:       "Give each goroutine a copy of its own of what the lock guards, and merge the copies at the end; or split it into shards with a lock each, by key; or do less under the lock: prepare before it, and read with a copy or an atomic pointer.",
	fatCriticalSection:   "Move the work that is named above out of the critical section: compute it before Lock from what needs no lock, or copy what is needed under the lock and do the work after Unlock.",
	serialization:        "Let several goroutines work at once: hand on as soon as the next one can begin and not when all is done, work in batches or parts that do not need each other's results, and put results in order at the end.",
	workInflation:        "Let goroutines not write to the same cache lines: give each its own counters and buffers, padded to 64 bytes, and add them up at the end; use fewer goroutines where memory is what they wait for.",
	memoryBandwidth:      "Move less memory: work on blocks that stay in the cache, go over the data once and not once for each step, and store it smaller; more cores do not help.",
	loadImbalance:        "Share the work out as it is done: let the goroutines take small parts from a common counter or channel, the largest first, instead of one fixed part each.",
	tooFine:              "Make fewer goroutines: a fixed number of workers that take many items each, or a limit below which a call does the work itself.",
	oversubscription:     "Run as many workers as there are cores, from a pool or with a semaphore, instead of a goroutine for each item; set GOMAXPROCS to the CPUs that the program may use.",
	notEnoughParallelism: "Do the part that runs alone in several goroutines, by parts of the data, or while the others work: begin it earlier or overlap it with the next step.",
	gc:                   "Allocate less where the source lines say: use buffers again (a slice or strings.Builder that is kept, sync.Pool), make slices and maps with their size, return no copies; only then raise GOGC or set GOMEMLIMIT.",
	channel:              "Hand on several values at a time, as a slice; give the channel a buffer for what comes in bursts; or let the receiver do the work of the sender where a hand-off is not needed.",
	convoy:               "Take the lock less often: gather several changes and make them under one Lock, split what it guards into shards with a lock each, or use an atomic value for what is only counted or read.",
	spinning:             "Wait instead of looking again: a channel, sync.Cond, a WaitGroup or a timer wakes the goroutine when there is something to do.",
	pageFaults:           "Keep memory and use it again: one buffer for many rounds, sync.Pool, or a mapping that stays, instead of taking new memory and giving it back each time.",
	blockingUnderLock:    "Do what the holder waits for (I/O, a sleep, a channel, another lock) before Lock or after Unlock: copy what is needed under the lock, let go of it, and store the result under it again.",
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
	w := Words{Text: Told(f.sentences.text, name, prose), Try: Told(tries[f.Verdict], name, prose), Holder: Told(f.holder, name, prose)}
	for _, e := range f.sentences.evidence {
		w.Evidence = append(w.Evidence, Told(e, name, prose))
	}
	return w
}

// Noted returns the notes, with name and prose applied as in Words.
func (r *Report) Noted(name, prose func(string) string) (list []string) {
	for _, n := range r.markedNotes {
		list = append(list, Told(n, name, prose))
	}
	return list
}

// Told returns a sentence with its marks replaced, as in Words.
func Told(text string, name, prose func(string) string) string {
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
		text: fmt.Sprintf("%s is held%s while its holder waits%s: others wait for it meanwhile, %s of the time.",
			x.u.begin(), in, why, show.Percent(f.Share)),
		advice: "Done before locking or after unlocking",
		evidence: append(x.u.evidence(m), fmt.Sprintf("%s of the hold time that others waited for, the holder was off the CPU%s",
			show.Percent(float64(x.u.blocked)/float64(x.u.holdWaited)), why)),
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
		text: fmt.Sprintf("%s is held %s of the time, and %s of that is %s under the lock, %s.",
			u.begin(), show.Percent(u.used), show.Percent(x.part), quoted(x.names), u.while(m)),
		advice:   "Moved out of it",
		evidence: u.evidence(m),
	}
	for _, n := range x.names {
		w.evidence = append(w.evidence, fmt.Sprintf("%s is %s of the time under the lock", named(n), show.Percent(float64(u.inside[m.id(n)])/float64(u.hold))))
	}
	return w
}

func (x convoyFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("Goroutines stand in line at %s: more than the %s wait for it %s of the time, %.1f on average, %s.",
			x.u.called(), cores(m), show.Percent(f.Share), float64(x.u.wait)/float64(m.span()), x.u.while(m)),
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
const unwaited = "If nobody had to wait for it"

// evidence returns the sentences that all findings about a lock have.
func (u *use) evidence(m *model) []string {
	e := fmt.Sprintf("%s waits for %s took %s together, %s on average", show.Count(u.waits), u.called(), show.Duration(u.wait), show.Duration(u.wait/max(u.waits, 1)))
	if u.l.acquired > 0 {
		e += fmt.Sprintf("; %s of %s acquisitions had to wait", show.Percent(float64(u.l.contended)/float64(u.l.acquired)), show.Count(u.l.acquired))
	}
	list := []string{e}
	if ns, n := u.l.whole(); ns > 0 && u.used > 0 {
		held := fmt.Sprintf("it is held %s of the time, for %s at a time", show.Percent(u.used), show.Duration(ns/n))
		if a := u.account(); a.missing() >= minMentioned {
			held = "as far as holds are recorded, " + held
		} else {
			held += fmt.Sprintf(": nobody can have it more than %s times in a second", show.Count(int64(1e9*float64(n)/float64(ns))))
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
		list = append(list, "of holds that nobody waited for "+known+" is known; with scope.WithLockThreshold(scope.LocksAll) all are recorded")
	}
	if names := m.most(u.waiters, u.wait); len(names) > 0 {
		list = append(list, "who waited was in "+quoted(names))
	}
	if u.l.place {
		list = append(list, "it is no lock of package scope, so it is known where it was waited for and who woke, and not how long it was held")
	}
	return list
}

// called returns the lock's name for the middle of a sentence.
func (u *use) called() string {
	switch n := len(u.l.addrs); {
	case n > 1 && u.l.object:
		return fmt.Sprintf("the %d locks %s", n, named(u.l.name))
	case n > 1:
		return fmt.Sprintf("the %d locks without a name in %s", n, named(u.l.name))
	case n == 1 && !u.l.object:
		return "the lock in " + named(u.l.name)
	case u.l.place:
		return "the lock in " + marked(u.l.name)
	}
	return "lock " + named(u.l.name)
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
		return "and mostly who unlocks it is in " + holder
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
		text: fmt.Sprintf("%s is tried again and again: failed tries take %s of the time of the %s, in %s.",
			named(f.Object), show.Percent(f.Share), cores(m), quoted(f.Scopes)),
		advice:   "Without them",
		evidence: x.u.evidence(m),
	}
}

func (x spinningFacts) words(m *model, f *Finding) words {
	what := "most are in calls that one polls with"
	if x.looping > 0 {
		what = show.Count(int64(x.looping)) + " are in a loop in which it lets others run, and in nothing that the loop calls"
	}
	return words{
		text: fmt.Sprintf("%s looks again and again whether something has come, in %s: that takes %s of the time of the %s.",
			who(x.g), orPlace(f.Object), show.Percent(f.Share), cores(m)),
		advice: "Waiting for it",
		evidence: []string{fmt.Sprintf("of %s samples of the CPU profile of %s %s",
			show.Count(int64(x.samples)), show.Plural(int64(x.goroutines), "goroutine"), what)},
	}
}

func (x serializationFacts) words(_ *model, f *Finding) words {
	at := ""
	if f.Object != "" {
		at = " at " + marked(f.Object)
	}
	return words{
		text: fmt.Sprintf("One goroutine at a time runs %s of the time, though %d have work: each waits for what the one before hands on%s, in %s.",
			show.Percent(f.Share), x.workers, at, quoted(f.Scopes)),
		advice: atOnce(x.work),
		evidence: []string{fmt.Sprintf("%s of %s waits ended because another goroutine handed something on; the busiest one did %s of what was done by one at a time",
			show.Count(int64(x.handoffs)), show.Count(int64(x.changes)), show.Percent(x.busiest))},
	}
}

// atOnce describes the work that would have to run in parallel. A trace can't show whether
// it can: a decoder needs its previous output.
func atOnce(work []scopeShare) string {
	const rest = " would have to be done at once; whether it can is not to be told from a trace: what needs the result of the one before can't begin earlier"
	var parts []string
	for _, w := range work {
		parts = append(parts, fmt.Sprintf("%s (%s)", named(w.name), show.Percent(w.share)))
	}
	what := strings.Join(parts, ", ")
	switch len(parts) {
	case 0:
		what = "what they do"
	case 1:
		what = "several of " + what
	}
	return "For a shorter run, " + what + rest
}

func (x aloneFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("%s runs alone %s of the time, in %s, while there is nothing to do for the other cores.",
			who(x.g), show.Percent(f.Share), quoted(f.Scopes)),
		advice:   "Done by all " + cores(m),
		evidence: []string{fmt.Sprintf("%s of the time two or more goroutines ran; %s of the time exactly one did", show.Percent(x.more), show.Percent(x.one))},
	}
}

func (x bottleneckFacts) words(_ *model, f *Finding) words {
	made, in := "", ""
	if x.made != "" {
		made = ", made in " + marked(x.made) + ","
	}
	if len(f.Scopes) > 0 {
		in = ", in " + quoted(f.Scopes)
	}
	return words{
		text: fmt.Sprintf("%s%s has work all the time and runs alone %s of it%s: the others wait for it in %s.",
			who(x.g), made, show.Percent(f.Share), in, orPlace(f.Object)),
		advice: atOnce(x.work),
		evidence: []string{fmt.Sprintf("%s of the time others have a channel or a Cond to wait at until it goes on, while it alone runs; it waits %s of the time itself",
			show.Percent(x.served), show.Percent(x.waits))},
	}
}

func (x imbalanceFacts) words(_ *model, f *Finding) words {
	at := "one place"
	if f.Object != "" {
		at = marked(f.Object)
	}
	return words{
		text: fmt.Sprintf("The goroutines made in %s have unequal work: %s of their time cores have nothing to do because some are done and the others are not, in %s.",
			at, show.Percent(f.Share), quoted(f.Scopes)),
		advice: "Evenly shared out",
		evidence: []string{fmt.Sprintf("%s of %s are waited for together; in the worst one the longest ran for %s, the mean for %s",
			show.Plural(int64(x.groups), "group"), show.Plural(int64(x.members), "goroutine"), show.Duration(x.longest), show.Duration(x.mean))},
	}
}

func (x tooFineFacts) words(_ *model, f *Finding) words {
	in := orPlace(f.Object)
	if x.places > 1 {
		in += fmt.Sprintf(" and %s more", show.Plural(int64(x.places-1), "place"))
	}
	return words{
		text: fmt.Sprintf("%s goroutines are made in %s for %s of work each: to make them, switch to them and wait for them takes %s of the CPU time.",
			show.Count(int64(x.goroutines)), in, show.Duration(x.median), show.Percent(f.Share)),
		advice:   "With more work for each",
		evidence: []string{fmt.Sprintf("half of them run for less than %s; one costs about %s to make, to switch to, to end and to be waited for", show.Duration(x.median), show.Duration(x.each))},
	}
}

func (x inflationFacts) words(m *model, f *Finding) words {
	name := named(f.Scopes[0])
	causes := "Three things do that: memory that can't be moved faster (scopeview membench tells whether it is that), cache lines that several goroutines write, and cores that are threads of one core."
	evidence := []string{fmt.Sprintf("over %s executions the CPU time grows with the number of running goroutines to the power of %.2f (%.1f standard errors from 0)",
		show.Count(int64(x.n)), x.slope, x.t)}
	if m.bandwidth != nil {
		text := "scopeview membench did not measure several cores"
		if p := x.memory; p.Cores >= 2 {
			text = fmt.Sprintf("by scopeview membench, %d cores at once take %s times as long to move the same memory, and %s times to compute", p.Cores, show.Ratio(p.Memory), show.Ratio(p.Compute))
		}
		if x.confirmed {
			causes = fmt.Sprintf("It waits for memory, which %.0f cores saturate.", x.at)
		} else {
			text += ": memory alone does not explain it"
		}
		evidence = append(evidence, text)
	}
	return words{
		text:     fmt.Sprintf("%s takes %s times the CPU time when %.1f goroutines run at once: %s of all that ran is that. %s", name, show.Ratio(x.factor), x.at, show.Percent(f.Share), causes),
		advice:   "Without it",
		evidence: evidence,
	}
}

func (x threadsFacts) words(m *model, _ *Finding) words {
	what := show.Percent(x.share) + " of their time goes by while goroutines want to run and wait for a thread that has a CPU"
	so := "and "
	if x.putOff {
		so, what = "so that ", "the system put running goroutines off their CPU "+show.Percent(x.share)+" of their time"
	}
	return words{
		text: fmt.Sprintf("There are more threads than CPUs: GOMAXPROCS is %d and the program may use %s (%s), %s%s.",
			m.procs, cores(m), m.cores.Why, so, what),
		advice: "With GOMAXPROCS as the CPUs it might be shorter; by how much is not to be told from a trace",
	}
}

func (x switchingFacts) words(m *model, f *Finding) words {
	by := ""
	if x.yielding {
		by = ", most by letting others run by itself"
		if f.Object != "" {
			by += " in " + marked(f.Object)
		}
	}
	return words{
		text: fmt.Sprintf("%.1f goroutines want to run on %s at once, and %s of their time they may not, in %s. They are switched %s times in a second%s, and each may find its data out of the cache.",
			x.wanting, cores(m), show.Percent(f.Share), quoted(f.Scopes), show.Count(m.rate(x.cuts)), by),
		advice: "With as many as cores it might be shorter; by how much is not to be told from a trace, which does not have what the caches held",
		evidence: []string{fmt.Sprintf("they run for %s at a time; a switch is taken to cost %s of reading data into the cache again, which depends on the program",
			show.Duration(x.ran/int64(max(x.cuts, 1))), show.Duration(refill))},
	}
}

func (x collectorFacts) words(m *model, f *Finding) words {
	in := ""
	if len(f.Scopes) > 0 {
		in = ", mostly in " + quoted(f.Scopes[:1])
	}
	w := words{
		text: fmt.Sprintf("The garbage collector takes %s of all that ran, and goroutines help it %s of their running time%s.",
			show.Percent(x.cpu), show.Percent(x.helping), in),
		advice:   "Without garbage",
		evidence: []string{fmt.Sprintf("its workers ran for %s, and goroutines helped for %s; a higher GOGC buys part of that with memory", show.Duration(x.workers), show.Duration(x.assist))},
	}
	if x.made > 0 {
		w.evidence = append(w.evidence, fmt.Sprintf("by the CPU profile, %s of the program's own time goes into allocating", show.Percent(x.made)))
	}
	if m.beats.gcPause > 0 {
		w.evidence = append(w.evidence, "it stopped the world for "+show.Duration(m.beats.gcPause)+" altogether")
	}
	return w
}

func (x faultFacts) words(m *model, f *Finding) words {
	b := &m.beats
	return words{
		text: fmt.Sprintf("Page faults take up to %s of the CPU time: the program touches new memory %s times in a second, while it is mostly in %s.",
			show.Percent(f.Share), show.Count(int64(float64(x.faults)*1e9/float64(max(b.over, 1)))), quoted(f.Scopes)),
		advice: "With memory that it keeps and uses again",
		evidence: []string{fmt.Sprintf("%s page faults, %s of them with I/O, and %s of system time in %s of CPU time",
			show.Count(x.faults), show.Count(b.major), show.Duration(b.system), show.Duration(b.user+b.system))},
	}
}

func (x senderFacts) words(m *model, f *Finding) words {
	return words{
		text: fmt.Sprintf("Who sends in %s waits %s of the time of the %s for a receiver that works on what it has got, in %s.",
			orPlace(f.Object), show.Percent(f.Share), cores(m), quoted(f.Scopes)),
		advice:   "With room for what comes in bursts",
		evidence: []string{fmt.Sprintf("%s waits to send there, for %s on average", show.Count(int64(x.waits)), show.Duration(x.mean))},
	}
}

func (x handingFacts) words(m *model, f *Finding) words {
	rate, of := show.Count(m.rate(x.waits)), show.Percent(f.Share)
	waits, cost := show.Count(int64(x.waits))+" waits for a channel, in a select or for a Cond", "; one is taken to cost "+show.Duration(handoffCost)
	if x.places == 0 {
		return words{
			text: fmt.Sprintf("Goroutines hand on %s times in a second in %s, and each time one is switched for another: %s of the time of the %s.",
				rate, orPlace(f.Object), of, cores(m)),
			advice:   "With several values at a time",
			evidence: []string{waits + " there" + cost},
		}
	}
	return words{
		text: fmt.Sprintf("Goroutines hand on %s times in a second, most in %s: to switch between them takes some %s of the CPU time, and more where they wake each other across CPUs.",
			rate, orPlace(f.Object), of),
		advice:   "With several values at a time, or fewer processors, it might be shorter; by how much is not to be told from a trace: scopeview scale runs it with several numbers of them",
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
		return "a place that is not known"
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
		Why: fmt.Sprintf("the trace was merged of %d processes, each of which had states and processors of its own", n),
		How: "ask scopeview doctor of each one's own trace; scopeview waits tells of all locks in this one",
	}
}
