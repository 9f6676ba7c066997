//go:build !amd64 && !arm64

package main

func one()     {}
func zero()    {}
func inStack() {}
