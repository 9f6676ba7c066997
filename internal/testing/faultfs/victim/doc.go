// Package victim runs a process into which tests inject faults. Only tests import it.
//
// The test binary starts itself again as a child, the victim, which records with
// some goroutines. It counts the scopes that each has begun and ended in memory that
// it shares with the test, so that the counts survive the victim: a call is counted
// after it has returned. The test injects its fault, ends the victim or kills it, and
// compares the trace with the counts.
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
