// Package armed lists the operating system resources that a recording sets up in its process: the
// package that sets each up, the one that releases it, and what another program could find of it
// after an execve, a fork or Stop. A test uses all of them and compares the list with the resources
// of the process. No program contains this package.
package armed

// Thing is a resource.
type Thing struct {
	What string
	By   string // the package that sets it up, and when
	Back string // the package that releases it, and when
	Exec string // why the program started by an execve does not have it
	Fork string // why a child process does not have it, or what it has

	// Kind and Text locate it for internal/testing/procstate during a recording: the name of a
	// state, and the text in each line of it that is ours. They are "" if it is not visible from
	// outside.
	Kind, Text string

	Rare bool // it need not exist during a recording
	Left bool // it may exist after Stop
}

const cloexec = "O_CLOEXEC closes it"

// List is all that a recording sets up. It installs no signal handler, changes no signal mask, no
// limit, no environment variable, no directory and no umask, opens no socket and starts no process.
var List = []Thing{
	{What: "the trace, its segments, snapshots", By: "record, at Start", Back: "record, at Stop", Kind: "descriptors", Text: ".scope",
		Exec: cloexec, Fork: "a child that C code forks has the descriptor, and with it the lock"},
	{What: "the trace's lock (flock)", By: "record, at Start", Back: "record, with the descriptor", Kind: "file locks",
		Exec: "it is released with the descriptor", Fork: "as the descriptor"},
	{What: "the hot file", By: "hot, at Start on shm", Back: "record, at Stop, which removes it", Kind: "descriptors", Text: ".hot",
		Exec: cloexec, Fork: "as the trace"},
	{What: "memory for addresses that chunks have left (memfd)", By: "pool, when the first has", Back: "pool, at Stop", Kind: "descriptors", Text: "/memfd:",
		Exec: cloexec, Fork: "as the trace"},
	{What: "pages of the trace", By: "sys.Range, on disk", Back: "pool, at Stop; some addresses stay reserved, empty", Kind: "mapped files", Text: ".scope",
		Exec: "memory ends with the program", Fork: "MADV_DONTFORK"},
	{What: "pages of the hot file", By: "sys.Range, on shm", Back: "as those of the trace", Kind: "mapped files", Text: ".hot",
		Exec: "memory ends with the program", Fork: "MADV_DONTFORK"},
	{What: "pages of the memory for addresses", By: "sys.Range", Back: "pool, at Stop", Kind: "mapped files", Text: "/memfd:", Rare: true,
		Exec: "memory ends with the program", Fork: "MADV_DONTFORK"},
	{What: "the page that marks a running recording", By: "sys.Live, at Start", Back: "stays, marked as not running",
		Exec: "memory ends with the program", Fork: "MADV_WIPEONFORK"},
	{What: "rseq of each thread that records", By: "sys, at its first record", Back: "stays until the thread ends; the kernel stores into the thread's own memory",
		Exec: "the kernel forgets it", Fork: "the kernel keeps it for the child's thread, whose memory it is"},
	{What: "switches and counters of threads (perf_event_open)", By: "perf, with gotrace.With()", Back: "perf, at Stop", Kind: "descriptors", Text: "anon_inode:[perf_event]",
		Exec: cloexec + ", which ends them", Fork: "inherit_thread: children are not watched (before Linux 5.13 they are, which costs them, and is left out of the trace)"},
	{What: "rings of those", By: "perf", Back: "perf, at Stop", Kind: "mapped files", Text: "anon_inode:[perf_event]",
		Exec: "memory ends with the program", Fork: "MADV_DONTFORK"},
	{What: "the part of these that RLIMIT_MEMLOCK counts", By: "perf, with gotrace.WithCounter", Back: "perf, at Stop", Kind: "VmPin",
		Exec: "memory ends with the program", Fork: "MADV_DONTFORK"},
	{What: "a timer for each thread (timer_create)", By: "Go's runtime, for the CPU profile of gotrace.With()", Back: "Go's runtime: when the profile ends, of each thread when it next runs a goroutine", Kind: "timers", Left: true,
		Exec: "the kernel deletes them", Fork: "a child has no timers"},
	{What: "the timer of the process (ITIMER_PROF)", By: "Go's runtime, for the same", Back: "gotrace, at once",
		Exec: "it would survive, and kill the new program", Fork: "a child has no timers"},
	{What: "the handler of SIGPROF", By: "Go's runtime, when the program begins; in c-archive and c-shared when a profile begins", Back: "stays; in c-archive and c-shared Go restores the previous handler, or ignores the signal",
		Exec: "handlers are reset; an ignored signal stays ignored", Fork: "as without a recording"},
	{What: "small files of /proc and of cgroups", By: "heartbeat, at Start and at each heartbeat", Back: "heartbeat, when they are read, or at Stop", Kind: "descriptors", Text: "/proc/", Rare: true,
		Exec: cloexec, Fork: "as the trace"},
	{What: "the descriptors of Go's poller", By: "Go's runtime, for the first timer or pipe", Back: "stays, as in each Go program", Kind: "descriptors", Text: "anon_inode:[event", Rare: true, Left: true,
		Exec: cloexec, Fork: "as without a recording"},
}
