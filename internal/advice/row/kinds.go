package row

// Kind is a kind of what is followed.
type Kind uint8

// The kinds that are created, used and die: a row is where they were created.
const (
	Slice Kind = iota + 1
	Map
	List
	Chan
	RWMutex
	Mutex
	SyncMap
	Goroutine
	Pool
	Custom // somebody's own: package scope/containers

	// The kinds that are uses: a row is where it was done.
	Concat  // strings put together
	Convert // between string and []byte or []rune
	Box     // a value put into an interface
	Sort
	Search  // in a slice
	Shift   // of a slice's elements: insert, delete
	Input   // a read of a file or connection
	Output  // a write
	Alloc   // all allocations, as Go's own heap profile samples them
	Scan    // loads one after the other, from one place of the code
	Line    // a cache line
	Compile // of a regular expression
	kindsEnd
)

var kindNames = [kindsEnd]string{
	Slice: "slice", Map: "map", List: "list", Chan: "chan", RWMutex: "rwmutex", Mutex: "mutex", SyncMap: "syncmap", Goroutine: "goroutine", Pool: "pool", Custom: "custom",
	Concat: "concat", Convert: "convert", Box: "box", Sort: "sort", Search: "search", Shift: "shift", Input: "input", Output: "output", Alloc: "alloc",
	Scan: "scan", Line: "line", Compile: "compile",
}

func (k Kind) String() string {
	if k < kindsEnd {
		return kindNames[k]
	}
	return ""
}

// Kinds is how many kinds there are, with the zero Kind, which is none.
const Kinds = int(kindsEnd)

// named is the kind of a name, 0 if there is none.
func named(name string) Kind {
	for k, n := range kindNames {
		if n == name {
			return Kind(k)
		}
	}
	return 0
}

// Value is one of the values of a row. All kinds have the same ones, and use what they need.
type Value uint8

// The values. What their names end with is their unit. All counts are estimates where creations are
// thinned out, or where operations are looked at for a part of the time.
const (
	Made       Value = iota // instances, or uses
	Hinted                  // of them created with a size
	Unseen                  // of them whose creation was not seen: literals, parts of others
	Exact                   // of them whose last length is known, and not only what it is between
	Grown                   // arrays, tables or blocks that they outgrew
	Copied                  // bytes copied for that
	GrownBytes              // bytes of what they outgrew
	Moved                   // elements moved: by growth of a map, by an insertion
	CapBytes                // bytes that they ended with
	LenBytes                // and of what was in them
	LifeNS                  // how long they lived
	MaxElem                 // bytes of an element
	MaxKey                  // bytes of a key
	MaxLen                  // the longest
	MinLen                  // the shortest
	MaxCap                  // the largest
	MaxHint                 // the largest size that one was created with
	MinHint                 // the smallest
	Watched                 // of them whose operations, or contents, were looked at
	WatchedCap              // bytes of the arrays of those whose contents were
	WatchedLen              // and of what was in them
	Gets                    // look-ups, receives, loads, read locks
	Misses                  // of them that found nothing
	Puts                    // stores, sends, write locks
	Deletes
	Clears
	Iterations
	Steps     // of iterations, of walks
	Compared  // comparisons
	Probes    // places looked at
	MaxProbes // the longest search
	MaxChain  // the longest chain of a hash table, and its bucket: see Chain
	Front     // insertions in front, or walks from there
	Back      // at the end, or backwards
	Middle    // in the middle
	Waits     // operations that waited
	WaitNS
	Allocs // allocations
	AllocBytes
	Frees
	NS    // that operations took
	Extra // of a kind's own
	Extra2
	Extra3
	valuesEnd
)

var valueNames = [valuesEnd]string{
	Made: "made", Hinted: "hinted", Unseen: "unseen", Exact: "exact", Grown: "grown", Copied: "copied_bytes", GrownBytes: "grown_bytes", Moved: "moved",
	CapBytes: "cap_bytes", LenBytes: "len_bytes", LifeNS: "life_ns", MaxElem: "max_elem_bytes", MaxKey: "max_key_bytes", MaxLen: "max_len",
	MinLen: "min_len", MaxCap: "max_cap", MaxHint: "max_hint", MinHint: "min_hint", Watched: "watched", WatchedCap: "watched_cap_bytes", WatchedLen: "watched_len_bytes", Gets: "gets", Misses: "misses",
	Puts: "puts", Deletes: "deletes", Clears: "clears", Iterations: "iterations", Steps: "steps", Compared: "compared", Probes: "probes",
	MaxProbes: "max_probes", MaxChain: "max_chain", Front: "front", Back: "back", Middle: "middle", Waits: "waits", WaitNS: "wait_ns", Allocs: "allocs",
	AllocBytes: "alloc_bytes", Frees: "frees", NS: "ns", Extra: "extra", Extra2: "extra2", Extra3: "extra3",
}

func (v Value) String() string { return valueNames[v] }

// values is how many values there are.
const values = int(valuesEnd)

// Hist is one of the two distributions of a row.
type Hist uint8

// The distributions: of the lengths that instances ended with at least, or of the sizes of uses, and
// of the most that they may have had.
const (
	Len Hist = iota
	Cap
	histsEnd
)

var histNames = [histsEnd]string{Len: "h_len", Cap: "h_cap"}

// Chain is how long a bucket's chain is, and which bucket that is, in one number: of two the longer is
// larger.
func Chain(length, bucket int64) int64 { return min(max(length, 0), 1<<30)<<32 | bucket&(1<<32-1) }

// ChainOf takes a number apart that Chain made.
func ChainOf(n int64) (length, bucket int64) { return n >> 32, n & (1<<32 - 1) }
