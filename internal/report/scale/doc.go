// Package scale runs a command with several values of GOMAXPROCS and fits its times to the
// Universal Scalability Law,
//
//	C(N) = N / (1 + σ(N−1) + κN(N−1))
//
// where σ is the share of the work that is serialized (locks, serial parts) and κ the cost that
// each processor causes each other one (contention for memory and cache lines). See N. Gunther,
// Guerrilla Capacity Planning, 2007.
package scale
