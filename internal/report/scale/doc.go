// Package scale runs a command with several GOMAXPROCS and tells how its time depends
// on their number: by the Universal Scalability Law,
//
//	C(N) = N / (1 + σ(N−1) + κN(N−1))
//
// where σ is what is done by one at a time (locks, serial parts) and κ what each costs
// all others (contention for memory and cache lines). See N. Gunther, Guerrilla Capacity
// Planning, 2007.
package scale
