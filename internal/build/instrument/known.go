package instrument

import "errors"

var errNoImport = errors.New("other packages are not read")

// known is what calls of some functions of the standard library cost: instructions of the
// processor, and bodies that the compiler inlines.
var known = map[string]int{
	"math.Sqrt": 0, "math.Floor": 0, "math.Ceil": 0, "math.Trunc": 0, "math.Abs": 0, "math.Copysign": 0,
	"math.Float64bits": 4, "math.Float64frombits": 4, "math.Float32bits": 4, "math.Float32frombits": 4,
	"math.IsNaN": 4, "math.Inf": 11, "math.NaN": 4,
	"math/bits.TrailingZeros": 0, "math/bits.TrailingZeros64": 0, "math/bits.TrailingZeros32": 0,
	"math/bits.LeadingZeros64": 0, "math/bits.LeadingZeros": 0, "math/bits.Len": 0, "math/bits.Len64": 0, "math/bits.Len32": 0,
	"math/bits.OnesCount64": 0, "math/bits.RotateLeft32": 0, "math/bits.RotateLeft64": 0, "math/bits.RotateLeft": 0,
	"math/bits.Mul64": 0, "math/bits.Add64": 0, "math/bits.Sub64": 0, "math/bits.ReverseBytes64": 0, "math/bits.ReverseBytes32": 0,
	"sync/atomic.LoadInt32": 0, "sync/atomic.LoadInt64": 0, "sync/atomic.LoadUint32": 0, "sync/atomic.LoadUint64": 0,
	"sync/atomic.StoreInt32": 0, "sync/atomic.StoreInt64": 0, "sync/atomic.StoreUint32": 0, "sync/atomic.StoreUint64": 0,
	"sync/atomic.AddInt32": 0, "sync/atomic.AddInt64": 0, "sync/atomic.AddUint32": 0, "sync/atomic.AddUint64": 0,
	"sync/atomic.CompareAndSwapInt32": 0, "sync/atomic.CompareAndSwapInt64": 0,
	"sync/atomic.CompareAndSwapUint32": 0, "sync/atomic.CompareAndSwapUint64": 0,
	"unsafe.Add": 0, "unsafe.Slice": 0, "unsafe.String": 0, "unsafe.StringData": 0, "unsafe.SliceData": 0,
	"unicode/utf8.RuneLen": 36, "unicode/utf8.RuneStart": 6,
	"errors.New": 6, "fmt.Errorf": 79, "strconv.Itoa": 66, "strconv.FormatInt": 62, "strconv.FormatUint": 62,
	"strconv.FormatBool": 10, "strings.HasPrefix": 20, "strings.HasSuffix": 23, "strings.Contains": 69,
	"strings.Cut": 75, "strings.CutPrefix": 42, "strings.CutSuffix": 48, "strings.IndexByte": 62, "strings.Join": 61,
	"strings.ContainsAny": 64, "strings.ContainsRune": 64, "strings.NewReader": 8,
	"bytes.Equal": 6, "bytes.IndexByte": 67, "bytes.NewReader": 8, "bytes.NewBuffer": 5, "bytes.HasPrefix": 18,
	"context.Background": 3, "context.TODO": 3, "os.IsNotExist": 62, "os.IsExist": 62,
	"unicode.IsDigit": 74, "unicode.IsLetter": 76, "unicode.IsUpper": 76, "unicode.IsLower": 76,
}

// conversions are types of the standard library that are often converted to.
var conversions = map[string]bool{
	"time.Duration": true, "unsafe.Pointer": true, "net/http.HandlerFunc": true, "io/fs.FileMode": true,
	"os.FileMode": true, "token.Pos": true, "reflect.Kind": true,
}

// knownMethods are methods that are the standard library's where nothing else is known, by
// the number of their arguments: those of package atomic and of byte orders, and locks.
var knownMethods = map[string]struct{ args, cost int }{
	"Load": {0, 3}, "Store": {1, 4}, "Add": {1, 4}, "CompareAndSwap": {2, 6}, "Swap": {1, 4},
	"Lock": {0, 68}, "Unlock": {0, 74}, "RLock": {0, 77}, "RUnlock": {0, 78}, "Done": {0, 60},
	"Uint16": {1, 1}, "Uint32": {1, 1}, "Uint64": {1, 1},
	"PutUint16": {2, 1}, "PutUint32": {2, 1}, "PutUint64": {2, 1},
}
