package record

import (
	"errors"
	"sync/atomic"
	"time"
)

// The exported values are documented in package scope.
var (
	ErrRunning = errors.New("scope: a recording is running; call Stop first")
	ErrStopped = errors.New("scope: no recording is running; call Start first")
	ErrExists  = errors.New("scope: the file exists")
	ErrOption  = errors.New("scope: option not supported")
	ErrNoSpace = errors.New("scope: not enough space on the file system")
	ErrForked  = errors.New("scope: not supported in a forked child before exec, where Go does not fully work")
	ErrBubble  = errors.New("scope: not supported inside a bubble of testing/synctest; do it outside, for example in TestMain")
)

// Limits of options.
const (
	NoLimit      int64 = -1
	DefaultLimit int64 = 1 << 30
	MinBuffer    int64 = 16 << 20
	MaxBuffer    int64 = 4 << 30 // as many slots as a hot file can have
	MinRing      int64 = 4 << 20
	MaxRing      int64 = 64 << 30
	MinSegment   int64 = 1 << 20
	MaxSegments        = 1000
)

// Values for Options.SetLocks besides durations.
const (
	LocksAll        time.Duration = 0
	LocksCalibrated time.Duration = -1
	LocksOff        time.Duration = -2
)

// Names in the records of tests, whether the standard library's hooks or package scopetest
// writes them.
const (
	ParallelPause = "parallel pause" // the scope of a wait in t.Parallel
	TestResult    = "result"         // argument of a test: pass, fail, skip
	TestName      = "test"           // argument of a subtest whose scope has its test's name
)

// TestsHooked and LabelsHooked are set if hooks record tests and profiler labels; packages
// scopetest and scopepprof then leave that to them.
var TestsHooked, LabelsHooked atomic.Bool
