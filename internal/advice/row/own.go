package row

// What a kind's own values are.
const (
	// Of maps.
	HashedBytes = Extra  // bytes of keys that are strings, in operations
	NaNs        = Extra2 // stores with a key that is not equal to itself: nothing finds it again

	// Of lists. Front, Back and Middle are insertions, Moved elements that were put elsewhere in their
	// list, Steps walks forward, AllocBytes those of nodes and of what is boxed in them.
	RemovedMiddle = Extra
	RemovedFront  = Extra2
	Backward      = Extra3 // walks backwards, and insertions before an element in the middle

	// Of searches. Compared is elements that were looked at; Misses found nothing.
	SearchedAgain = Extra  // searches in slices of which more than one search was seen
	SearchedIn    = Extra2 // slices, about
	ByFunc        = Extra3 // searches with a function

	// Of shifts: Puts insert and Deletes remove elements, Moved is elements behind, Copied their bytes.
	InOrder = Extra // where the goroutine's last binary search ended

	// Of sorts. Steps is elements that were sorted, Compared n·log₂ n of them, Gets the neighbours that
	// were compared before, Misses those of them in the wrong order, Unseen sorts of what is no slice.
	Again         = Extra  // sorts of a slice that was sorted, and has more elements at its end since
	AgainNS       = Extra2 // what they took
	AgainMore     = Extra3 // elements at the end
	AgainElements = Moved  // elements that they sorted

	// Of reads and writes. NS is what small ones took that follow another on their file.
	Small      = Extra  // so many
	SmallBytes = Extra2 // and their bytes

	// Of conversions.
	OfRunes = Extra // runes are on one side

	// Of regular expressions. NS is what those took that had been compiled before.
	Recompiled      = Extra
	RecompiledBytes = Extra2 // of their patterns

	// Of lines. Gets and Puts are accesses to them, Misses those that a processor had to get the line back
	// for, though nobody else had stored to the same bytes; Waits those of all of these that are atomic.
	// MaxLen is goroutines that use one, MaxCap those that store to it, MaxElem bytes of what lies there.
	Contended = Extra  // accesses that had to get the line back for bytes that others had stored to
	Shared    = Extra2 // accesses to bytes that another goroutine uses, too, and one of them stores to

	// Of scans. Steps is accesses to another address than before, Compared those as far away as the one
	// before, Probes those to a line that is not near, Misses of them those to another page. Front, Back
	// and Middle are those to a line that was not used shortly before: by a pointer from an array, by one
	// from a node, and others. Watched is accesses that were seen, MaxLen the lines that are used, about.
	Pointed = Front
	Chased  = Back
	Placed  = Middle

	// Of mutexes. Gets is sections that only load, Puts those that store, Misses those in which neither is
	// seen; Watched is how many were seen, Steps loads and stores in all of them. MaxCap is processors.
	HeldNS = Extra // for which it was locked while others waited
)
