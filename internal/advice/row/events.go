package row

// Event is what the standard library's hooks tell of. What the numbers of each are is said where
// package count takes it.
type Event uint32

// Events that come with a call stack. Those with Thin are told of some of the times, as package
// count says for each place of the code.
const (
	MakeSlice Event = iota + 1
	GrowSlice
	MakeMap
	GrowMap

	// Events of what is followed. They have no call stack, and are told while operations are looked at.
	MapGet
	MapPut
	MapDelete
	MapIter
	MapStep
	MapClear
	MapNaN // a store with a key that is not equal to itself

	// Lists: that one is made, with a call stack, and what is done with it. The operations are in the order of a list's own slots.
	MakeList
	ListPushFront
	ListPushBack
	ListInsertAfter // in the middle
	ListInsertBefore
	ListRemoveFront
	ListRemoveBack
	ListRemove // in the middle
	ListMove
	ListNext
	ListPrev

	// Uses of slices, with a call stack but for the beginning of a sort.
	Searched
	Shifted
	SortBegins
	Sorted

	MakeChan // thinned out, with its call stack
	ChanSend
	ChanReceive
	ChanSendWait
	ChanReceiveWait
	ChanClose

	// Events of locks and maps that goroutines share. They have a call stack, as nothing tells of their
	// creation, and are told while operations are looked at.
	ReadLock
	WriteLock
	SyncGet
	SyncPut
	SyncDelete
	SyncRange

	MakeGo // thinned out, with its call stack
	EndGo

	// Uses, with a call stack, and thinned.
	ConcatStrings
	ConvertString
	BoxValue
	ReadAll
	ReadFile
	WriteFile
	PoolGet
	PoolPut
	CompileRegexp

	// BufferGrow has no call stack: a buffer's new array takes the place of its old one.
	BufferGrow

	// Events of chosen packages, with a call stack: a copy of elements within their own slice.
	ShiftSlice
	MutexWait // thinned out
)
