// Package victim is a process that faults are done to. Only tests import it.
//
// The test binary starts itself again as a child, the victim, which records with
// some goroutines. What each has begun and ended it counts in memory that it shares
// with the test, so that the count is there however the victim ends: what is told
// of a scope is stored after the call that it tells of has returned. The test does
// its fault, ends the victim or kills it, and compares what the trace has with what
// was counted.
//
// A package whose tests use it has
//
//	func TestMain(m *testing.M) {
//		victim.Main(nil)
//		os.Exit(m.Run())
//	}
//
// and its tests do
//
//	v := victim.Start(t, victim.Config{Path: path, Backing: "disk"})
//	v.Until(t, "some scopes", func() bool { return v.Ended() > 1000 })
//	// the fault
//	v.Finish(t) // or v.Kill(t)
//	v.Check(t, path)
package victim
