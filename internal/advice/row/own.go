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
)
