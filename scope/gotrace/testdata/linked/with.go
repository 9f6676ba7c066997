//go:build withheap

package main

import "github.com/scopeview/scopeview/scope/gotrace"

var options = []gotrace.Option{gotrace.WithHeap()}
