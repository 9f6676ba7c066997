package instrument

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// stdText lists the standard library's functions that the compiler inlines, and their costs:
// go test -run TestStandard -update writes it.
//
//go:embed std.txt
var stdText string

// standard is stdText by path and name, plus functions that are one machine instruction.
var standard = sync.OnceValue(func() map[string]int {
	costs := map[string]int{}
	for line := range strings.Lines(stdText) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.Atoi(number); err == nil {
			costs[name] = n
		}
	}
	for path, names := range instructions {
		for name := range strings.FieldsSeq(names) {
			costs[path+"."+name] = 0
		}
	}
	return costs
})

// instructions are functions that compile to machine instructions, by package.
var instructions = map[string]string{
	"math": "Sqrt Floor Ceil Trunc Abs Copysign FMA RoundToEven",
	"math/bits": `TrailingZeros TrailingZeros8 TrailingZeros16 TrailingZeros32 TrailingZeros64
		LeadingZeros LeadingZeros32 LeadingZeros64 Len Len8 Len16 Len32 Len64 ReverseBytes32 ReverseBytes64
		OnesCount OnesCount32 OnesCount64 RotateLeft RotateLeft32 RotateLeft64 Add Add64 Sub Sub64 Mul Mul64`,
	"sync/atomic": `LoadInt32 LoadInt64 LoadUint32 LoadUint64 LoadUintptr LoadPointer
		StoreInt32 StoreInt64 StoreUint32 StoreUint64 StoreUintptr
		AddInt32 AddInt64 AddUint32 AddUint64 AddUintptr
		CompareAndSwapInt32 CompareAndSwapInt64 CompareAndSwapUint32 CompareAndSwapUint64`,
	"unsafe": "Add Slice String StringData SliceData",
}

// conversions are types of the standard library that are common in conversions.
var conversions = map[string]bool{
	"time.Duration": true, "unsafe.Pointer": true, "net/http.HandlerFunc": true, "io/fs.FileMode": true,
	"os.FileMode": true, "go/token.Pos": true, "reflect.Kind": true,
}

// knownMethods are methods assumed to be the standard library's if the type is not known,
// with their number of arguments: those of package atomic, of byte orders, and of locks.
var knownMethods = map[string]struct{ args, cost int }{
	"Load": {0, 3}, "Store": {1, 4}, "Add": {1, 4}, "CompareAndSwap": {2, 6}, "Swap": {1, 4},
	"Lock": {0, 68}, "Unlock": {0, 74}, "RLock": {0, 77}, "RUnlock": {0, 78}, "Done": {0, 60},
	"Uint16": {1, 1}, "Uint32": {1, 1}, "Uint64": {1, 1},
	"PutUint16": {2, 1}, "PutUint32": {2, 1}, "PutUint64": {2, 1},
}
