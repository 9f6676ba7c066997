package advice

// Weights are what small operations take, by name: in ns, if the name does not say otherwise. Those
// that are built in were measured on an AMD EPYC with Go 1.26 (scopeview calibrate measures this machine).
type Weights map[string]float64

// The weights.
const (
	copyByte   = "copy_byte"   // a byte of an array that is copied
	alloc      = "alloc"       // an allocation
	allocTiny  = "alloc_tiny"  // an allocation of a word or less, without pointers
	allocByte  = "alloc_byte"  // a byte of it where it is kept for a while: zeroing, the first touch, the collector
	allocAgain = "alloc_again" // a byte of it where it dies soon, so that its memory is used again
	mapMove    = "map_move"    // an entry that growth moves
	mapGet     = "map_get"     // a look-up of a word
	mapPut     = "map_put"     // a store in a map with room
	mapStep    = "map_step"    // a step of an iteration over a map
	sliceStep  = "slice_step"  // a step over a slice
	regexpByte = "regexp_byte" // a byte of the pattern of a regular expression that is compiled
	poolUse    = "pool_use"    // a Get from a sync.Pool that has something, and the Put
	compare    = "compare"     // two words compared in a loop

	compareString = "compare_string" // two strings
	probe         = "probe"          // a step of a binary search
	shiftByte     = "shift_byte"     // a byte of an array that is moved within it
	shift         = "shift"          // an insertion or deletion, but for what it moves
	appended      = "append"         // an append of a word, with the growth that it needs
	ring          = "ring"           // a word put into a ring buffer, or taken
	listStep      = "list_step"      // a step over a list that caches hold
	listStepFar   = "list_step_far"  // and over one that they don't
	mapBuild      = "map_build"      // a store in a map that grows
	hashByte      = "hash_byte"      // a byte of a key that is hashed and compared
	swapWord      = "swap_word"      // what sort.Slice takes more than slices.SortFunc, by n·log₂ n: of words, of strings
	swapOther     = "swap_other"     // and of other elements

	chanOp     = "chan_op"     // a send or receive that does not wait
	chanWait   = "chan_wait"   // a wait for a channel, and being woken
	mutexLock  = "mutex_lock"  // a sync.Mutex that nobody has locked, and unlocked
	rwRead     = "rw_read"     // a sync.RWMutex, to read
	rwWrite    = "rw_write"    // and to write
	syncGet    = "sync_get"    // a sync.Map's Load
	syncPut    = "sync_put"    // Store of a new key, with key and value put into interfaces
	syncSwap   = "sync_swap"   // and of one that is there
	syncDelete = "sync_delete" // and Delete
	hashProbe  = "hash_probe"  // a place of a hash table that is looked at for an element, or an element of a chain
	goStart    = "go_start"    // a goroutine, from the go statement to its end

	// A cache line that another processor has stored to, and what has to get it back: a load or store waits
	// less for it than what is atomic, as a processor goes on meanwhile.
	lineBack       = "line_back"
	lineBackAtomic = "line_back_atomic"
	// An access to a line that is not near, by a pointer from an array, and by one from the node before, for
	// which a processor can't go on: where the second cache has not all lines, and where the last one has not.
	pointedFar    = "pointed_far"
	pointedMemory = "pointed_memory"
	chasedNear    = "chased_near" // and where the second cache has them
	chasedFar     = "chased_far"
	chasedMemory  = "chased_memory"
)

// BuiltIn returns the weights that are built in.
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
