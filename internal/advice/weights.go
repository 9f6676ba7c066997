package advice

// Weights are the costs of small operations, by name: in ns, unless the name has another
// unit. The built-in ones were measured on an AMD EPYC with Go 1.26 (scopeview calibrate
// measures this machine).
type Weights map[string]float64

// The weights.
const (
	copyByte   = "copy_byte"   // a byte of an array that is copied
	alloc      = "alloc"       // an allocation
	allocTiny  = "alloc_tiny"  // an allocation of a word or less, without pointers
	allocByte  = "alloc_byte"  // a byte of a longer-lived allocation: zeroing, the first touch, the collector
	allocAgain = "alloc_again" // a byte of a short-lived allocation, whose memory is reused
	mapMove    = "map_move"    // an entry that growth moves
	mapGet     = "map_get"     // a lookup of a word
	mapPut     = "map_put"     // a store in a map with room
	mapStep    = "map_step"    // a step of an iteration over a map
	sliceStep  = "slice_step"  // a step over a slice
	regexpByte = "regexp_byte" // a byte of the pattern of a regular expression that is compiled
	poolUse    = "pool_use"    // a Get from a sync.Pool that is not empty, and the Put
	compare    = "compare"     // two words compared in a loop

	compareString = "compare_string" // two strings
	probe         = "probe"          // a step of a binary search
	shiftByte     = "shift_byte"     // a byte of an array that is moved within it
	shift         = "shift"          // an insertion or deletion, without the bytes moved
	appended      = "append"         // an append of a word, with the growth that it needs
	ring          = "ring"           // a word added to a ring buffer, or taken from it
	listStep      = "list_step"      // a step over a list that fits into the caches
	listStepFar   = "list_step_far"  // a step over a larger list
	mapBuild      = "map_build"      // a store in a map that grows
	hashByte      = "hash_byte"      // a byte of a key that is hashed and compared
	swapWord      = "swap_word"      // additional time of sort.Slice over slices.SortFunc, by n·log₂ n: for words and strings
	swapOther     = "swap_other"     // and for other elements

	chanOp     = "chan_op"     // a send or receive that does not wait
	chanWait   = "chan_wait"   // a wait for a channel, including the wake-up
	mutexLock  = "mutex_lock"  // Lock and Unlock of an uncontended sync.Mutex
	rwRead     = "rw_read"     // RLock and RUnlock of a sync.RWMutex
	rwWrite    = "rw_write"    // Lock and Unlock of a sync.RWMutex
	syncGet    = "sync_get"    // Load of a sync.Map
	syncPut    = "sync_put"    // Store of a new key, including the conversions to interfaces
	syncSwap   = "sync_swap"   // Store of an existing key
	syncDelete = "sync_delete" // Delete
	hashProbe  = "hash_probe"  // a probed place of a hash table, or an element of a chain
	goStart    = "go_start"    // a goroutine, from the go statement to its end

	// A cache line that another processor has stored to, by the access that misses: an
	// ordinary load or store waits less than an atomic operation, as the processor continues
	// meanwhile.
	lineBack       = "line_back"
	lineBackAtomic = "line_back_atomic"
	// An access to a distant line, by a pointer from an array, and by one from the node
	// before, for which a processor can't continue: if the lines exceed the second-level
	// cache, and if they exceed the last one.
	pointedFar    = "pointed_far"
	pointedMemory = "pointed_memory"
	chasedNear    = "chased_near" // and if they fit into the second-level cache
	chasedFar     = "chased_far"
	chasedMemory  = "chased_memory"
)

// BuiltIn returns the built-in weights.
func BuiltIn() Weights {
	return Weights{
		copyByte: 0.06, alloc: 30, allocByte: 0.25, allocAgain: 0.12, mapMove: 25, mapGet: 15, mapPut: 25, mapStep: 6, sliceStep: 0.5, compare: 0.35,
		compareString: 2.5, probe: 4.5, shiftByte: 0.008, shift: 5, appended: 5, ring: 1.5, listStep: 1.3, listStepFar: 5.7,
		mapBuild: 55, hashByte: 0.035, swapWord: 0.6, swapOther: 3.5,
		chanOp: 15, chanWait: 95, mutexLock: 9.7, rwRead: 9.7, rwWrite: 19.8, syncGet: 20, syncPut: 220, syncSwap: 130, syncDelete: 90, goStart: 220,
		hashProbe: 1,
		poolUse:   12, allocTiny: 11, regexpByte: 350,
		lineBack: 10, lineBackAtomic: 40, pointedFar: 0.3, pointedMemory: 3, chasedNear: 2.5, chasedFar: 14, chasedMemory: 120,
	}
}
