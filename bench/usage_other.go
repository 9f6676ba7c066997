//go:build !linux

package main

import (
	"errors"
	"os"
)

var errThread = errors.New("this system does not measure single threads")

func threadFaults() (int64, error) { return 0, errThread }
func threadTime() (int64, error)   { return 0, errThread }
func processTime() int64           { return 0 }
func peakMemory(_ *os.Process, ended <-chan struct{}) int64 {
	<-ended
	return 0
}
func switchTime(func()) (float64, error) { return 0, errThread }
func samplingRows(*bench) []row          { return []row{broken("samples", errThread)} }
func ordinaryRows(*bench) []row          { return []row{broken("an unchanged program", errThread)} }
