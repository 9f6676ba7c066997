package row

// Kind is a kind of followed object, or of use.
type Kind uint8

// Kinds that are created, used and die: a row is the place of the creation.
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
	Custom // a program's own container: package scope/containers

	// Kinds that are uses: a row is the place of the use.
	Concat  // concatenation of strings
	Convert // between string and []byte or []rune
	Box     // conversion of a value to an interface
	Sort
	Search  // in a slice
	Shift   // of a slice's elements: insert, delete
	Input   // a read of a file or connection
	Output  // a write
	Alloc   // allocations, as Go's own heap profile samples them
	Scan    // successive loads of one place of the code
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

// Kinds is the number of kinds, including the zero Kind, which is none.
const Kinds = int(kindsEnd)

// named returns the kind with a name, or 0.
func named(name string) Kind {
	for k, n := range kindNames {
		if n == name {
			return Kind(k)
		}
	}
	return 0
}

// Value is an index of a row's values. All kinds have the same ones, and use those that they
// need.
type Value uint8

// The values. The end of a name is its unit. All counts are estimates if creations or
// operations are sampled.
const (
	Made       Value = iota // instances, or uses
	Hinted                  // of Made: created with a size
	Unseen                  // of Made: creation not seen: literals, parts of others
	Exact                   // of Made: last length known exactly, not only its bounds
	Grown                   // arrays, tables or blocks that they outgrew
	Copied                  // bytes copied by growth
	GrownBytes              // bytes of outgrown arrays, tables or blocks
	Moved                   // elements moved by growth of a map, or by an insertion
	CapBytes                // last capacity in bytes
	LenBytes                // last length in bytes
	LifeNS                  // lifetime
	MaxElem                 // bytes of an element
	MaxKey                  // bytes of a key
	MaxLen                  // longest
	MinLen                  // shortest
	MaxCap                  // largest capacity
	MaxHint                 // largest size at creation
	MinHint                 // smallest size at creation
	Watched                 // of Made: operations or contents seen
	WatchedCap              // capacity in bytes of those with contents seen
	WatchedLen              // length in bytes of those
	Gets                    // look-ups, receives, loads, read locks
	Misses                  // of Gets: found nothing
	Puts                    // stores, sends, write locks
	Deletes
	Clears
	Iterations
	Steps     // of iterations, of walks
	Compared  // comparisons
	Probes    // places probed
	MaxProbes // the longest search
	MaxChain  // the longest chain of a hash table, and its bucket: see Chain
	Front     // insertions in front, or walks from there
	Back      // at the end, or backwards
	Middle    // edits in the middle
	Waits     // operations that waited
	WaitNS
	Allocs // allocations
	AllocBytes
	Frees
	NS    // time of operations
	Extra // for a kind's own
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

// values is the number of values.
const values = int(valuesEnd)

// Hist is an index of a row's distributions.
type Hist uint8

// The distributions: of the last lengths, at least, or of the sizes of uses; and of the
// capacities.
const (
	Len Hist = iota
	Cap
	histsEnd
)

var histNames = [histsEnd]string{Len: "h_len", Cap: "h_cap"}

// Chain packs the length of a chain and its bucket in one number: the longer of two is
// larger.
func Chain(length, bucket int64) int64 { return min(max(length, 0), 1<<30)<<32 | bucket&(1<<32-1) }

// ChainOf unpacks a number of Chain.
func ChainOf(n int64) (length, bucket int64) { return n >> 32, n & (1<<32 - 1) }
