package advice

// Weights are what small operations take, by name: in ns, if the name does not say otherwise. Those
// that are built in were measured on an AMD EPYC with Go 1.26 (scopeview calibrate measures this machine).
type Weights map[string]float64

// The weights.
const (
	CopyByte   = "copy_byte"   // a byte of an array that is copied
	Alloc      = "alloc"       // an allocation
	AllocTiny  = "alloc_tiny"  // an allocation of a word or less, without pointers
	AllocByte  = "alloc_byte"  // a byte of it where it is kept for a while: zeroing, the first touch, the collector
	AllocAgain = "alloc_again" // a byte of it where it dies soon, so that its memory is used again
	MapMove    = "map_move"    // an entry that growth moves
	MapGet     = "map_get"     // a look-up of a word
	MapPut     = "map_put"     // a store in a map with room
	MapStep    = "map_step"    // a step of an iteration over a map
	SliceStep  = "slice_step"  // a step over a slice
	RegexpByte = "regexp_byte" // a byte of the pattern of a regular expression that is compiled
	PoolUse    = "pool_use"    // a Get from a sync.Pool that has something, and the Put
	Compare    = "compare"     // two words compared in a loop

	CompareString = "compare_string" // two strings
	Probe         = "probe"          // a step of a binary search
	ShiftByte     = "shift_byte"     // a byte of an array that is moved within it
	Shift         = "shift"          // an insertion or deletion, but for what it moves
	Append        = "append"         // an append of a word, with the growth that it needs
	Ring          = "ring"           // a word put into a ring buffer, or taken
	ListStep      = "list_step"      // a step over a list that caches hold
	ListStepFar   = "list_step_far"  // and over one that they don't
	MapBuild      = "map_build"      // a store in a map that grows
	HashByte      = "hash_byte"      // a byte of a key that is hashed and compared
	SwapWord      = "swap_word"      // what sort.Slice takes more than slices.SortFunc, by n·log₂ n: of words, of strings
	SwapOther     = "swap_other"     // and of other elements

	ChanOp     = "chan_op"     // a send or receive that does not wait
	ChanWait   = "chan_wait"   // a wait for a channel, and being woken
	MutexLock  = "mutex_lock"  // a sync.Mutex that nobody has locked, and unlocked
	RWRead     = "rw_read"     // a sync.RWMutex, to read
	RWWrite    = "rw_write"    // and to write
	SyncGet    = "sync_get"    // a sync.Map's Load
	SyncPut    = "sync_put"    // Store of a new key, with key and value put into interfaces
	SyncSwap   = "sync_swap"   // and of one that is there
	SyncDelete = "sync_delete" // and Delete
	HashProbe  = "hash_probe"  // a place of a hash table that is looked at for an element, or an element of a chain
	GoStart    = "go_start"    // a goroutine, from the go statement to its end

	// A cache line that another processor has stored to, and what has to get it back: a load or store waits
	// less for it than what is atomic, as a processor goes on meanwhile.
	LineBack       = "line_back"
	LineBackAtomic = "line_back_atomic"
	// An access to a line that is not near, by a pointer from an array, and by one from the node before, for
	// which a processor can't go on: where the second cache has not all lines, and where the last one has not.
	PointedFar    = "pointed_far"
	PointedMemory = "pointed_memory"
	ChasedNear    = "chased_near" // and where the second cache has them
	ChasedFar     = "chased_far"
	ChasedMemory  = "chased_memory"
)

// BuiltIn returns the weights that are built in.
func BuiltIn() Weights {
	return Weights{
		CopyByte: 0.06, Alloc: 30, AllocByte: 0.25, AllocAgain: 0.12, MapMove: 25, MapGet: 15, MapPut: 25, MapStep: 6, SliceStep: 0.5, Compare: 0.35,
		CompareString: 2.5, Probe: 4.5, ShiftByte: 0.008, Shift: 5, Append: 5, Ring: 1.5, ListStep: 1.3, ListStepFar: 5.7,
		MapBuild: 55, HashByte: 0.035, SwapWord: 0.6, SwapOther: 3.5,
		ChanOp: 15, ChanWait: 95, MutexLock: 9.7, RWRead: 9.7, RWWrite: 19.8, SyncGet: 20, SyncPut: 220, SyncSwap: 130, SyncDelete: 90, GoStart: 220,
		HashProbe: 1,
		PoolUse:   12, AllocTiny: 11, RegexpByte: 350,
		LineBack: 10, LineBackAtomic: 40, PointedFar: 0.3, PointedMemory: 3, ChasedNear: 2.5, ChasedFar: 14, ChasedMemory: 120,
	}
}
