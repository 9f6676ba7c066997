package row

// A kind's own values.
const (
	// Of maps.
	HashedBytes = Extra  // bytes of keys that are strings, in operations
	NaNs        = Extra2 // stores with a key that is not equal to itself, which no lookup finds

	// Of lists. Front, Back and Middle are insertions, Moved elements moved within their
	// list, Steps steps forward, AllocBytes the bytes of nodes and of their boxed values.
	RemovedMiddle = Extra
	RemovedFront  = Extra2
	Backward      = Extra3 // steps backward, and insertions before an element in the middle

	// Of searches. Compared is the number of elements compared; Misses are searches without a
	// result.
	SearchedAgain = Extra  // searches in slices that were searched more than once
	SearchedIn    = Extra2 // slices, about
	ByFunc        = Extra3 // searches with a comparison function

	// Of shifts: Puts insert and Deletes remove elements, Moved is the number of elements
	// moved, Copied their bytes.
	InOrder = Extra // at the place where the goroutine's last binary search ended

	// Of sorts. Steps is the number of elements sorted, Compared their n·log₂ n, Gets the
	// neighbours compared before the sort, Misses those in the wrong order, Unseen sorts of
	// something other than a slice.
	Again         = Extra  // sorts of a slice that had been sorted, and to which elements were appended since
	AgainNS       = Extra2 // time of these
	AgainMore     = Extra3 // appended elements
	AgainElements = Moved  // elements that they sorted

	// Of reads and writes. NS is the time of small ones that follow another one on their
	// file.
	Small      = Extra  // number of these
	SmallBytes = Extra2 // bytes of these

	// Of conversions.
	OfRunes = Extra // runes are involved

	// Of regular expressions. NS is the time of compiling those that had been compiled
	// before.
	Recompiled      = Extra
	RecompiledBytes = Extra2 // of their patterns

	// Of lines. Gets and Puts are accesses, Misses those that missed although no other
	// goroutine had stored to the same bytes; Waits are misses of either kind by atomics.
	// MaxLen is the number of goroutines that use a line, MaxCap of those that store to it,
	// MaxElem the bytes in use.
	Contended = Extra  // accesses that missed for bytes that others had stored to
	Shared    = Extra2 // accesses to bytes that another goroutine uses, too, and one of them stores to

	// Of scans. Steps is the number of accesses to another address than before, Compared
	// those at the same distance as the one before, Probes those to a line that is not near,
	// Misses of these those to another page. Front, Back and Middle are those to a line that
	// was not used shortly before: by a pointer from an array, by one from a node, and
	// others. Watched is the number of accesses seen, MaxLen about the number of lines used.
	Pointed = Front
	Chased  = Back
	Placed  = Middle

	// Of mutexes. Gets is the number of sections that only load, Puts of those that store,
	// Misses of those with neither seen; Watched is the number of sections seen, Steps of
	// loads and stores in all of them. MaxCap is the number of processors.
	HeldNS = Extra // time of being locked while others waited
)
