// Package cputest checks recorded CPU times against the truth: no scope is ever charged with
// another goroutine's CPU time, and an upper bound is one.
package cputest
