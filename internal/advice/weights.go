package advice

// Weights are what small operations take, by name: in ns, if the name does not say otherwise. Those
// that are built in were measured on an AMD EPYC with Go 1.26 (scopeview calibrate measures this machine).
type Weights map[string]float64

// The weights.
const (
	CopyByte  = "copy_byte"  // a byte of an array that is copied
	Alloc     = "alloc"      // an allocation
	AllocTiny = "alloc_tiny" // an allocation of a word or less, without pointers
	AllocByte = "alloc_byte" // a byte of it: zeroing, first touches, the collector
	MapMove   = "map_move"   // an entry that growth moves
	MapGet    = "map_get"    // a look-up of a word
	MapPut    = "map_put"    // a store in a map with room
	MapStep   = "map_step"   // a step of an iteration over a map
	SliceStep = "slice_step" // a step over a slice
	PoolUse   = "pool_use"   // a Get from a sync.Pool that has something, and the Put
	Compare   = "compare"    // two words compared in a loop
)

// BuiltIn returns the weights that are built in.
func BuiltIn() Weights {
	return Weights{
		CopyByte: 0.06, Alloc: 30, AllocByte: 0.12, MapMove: 25, MapGet: 15, MapPut: 25, MapStep: 8, SliceStep: 0.5, Compare: 0.6, PoolUse: 12, AllocTiny: 11,
	}
}
