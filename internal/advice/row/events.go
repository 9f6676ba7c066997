package row

// Event is an event of the standard library's hooks. Package count documents the numbers of
// each in the function that handles it.
type Event uint32

// Events with a call stack. Those marked as sampled are reported at the rate that package
// count sets for each place of the code.
const (
	MakeSlice Event = iota + 1
	GrowSlice
	MakeMap
	GrowMap

	// Operations on followed objects. They have no call stack, and are reported while
	// operations are sampled.
	MapGet
	MapPut
	MapDelete
	MapIter
	MapStep
	MapClear
	MapNaN // a store with a key that is not equal to itself

	// Lists: the creation, with a call stack, and the operations, in the order of a list's
	// own slots.
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

	// Uses of slices, with a call stack, except for the beginning of a sort.
	Searched
	Shifted
	SortBegins
	Sorted

	MakeChan // sampled, with a call stack
	ChanSend
	ChanReceive
	ChanSendWait
	ChanReceiveWait
	ChanClose

	// Operations on shared locks and maps. They have a call stack, as there is no creation
	// event, and are reported while operations are sampled.
	ReadLock
	WriteLock
	SyncGet
	SyncPut
	SyncDelete
	SyncRange

	MakeGo // sampled, with a call stack
	EndGo

	// Uses, with a call stack, and sampled.
	ConcatStrings
	ConvertString
	BoxValue
	ReadAll
	ReadFile
	WriteFile
	PoolGet
	PoolPut
	CompileRegexp

	// BufferGrow has no call stack: a buffer's new array replaces its old one.
	BufferGrow

	// Events of selected packages, with a call stack: a copy of elements within their own
	// slice.
	ShiftSlice
	MutexWait // sampled
)
