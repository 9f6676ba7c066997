// Package containers extends the advice for Go's slices and maps to a program's own containers:
// scopeview run --advise reports hash tables that begin too small, hash functions that overfill one
// bucket, and buffers larger than their contents ever were.
//
//	type Table struct {
//		buckets [][]entry
//		follow  containers.Instance
//	}
//
//	func NewTable(buckets int) *Table {
//		return &Table{make([][]entry, buckets), containers.New(containers.Spec{Name: "Table", Table: true, Slots: buckets, SlotBytes: 24})}
//	}
//
//	func (t *Table) Get(key string) (string, bool) {
//		bucket := t.buckets[t.hash(key)]
//		for i := range bucket {
//			if bucket[i].key == key {
//				t.follow.Get(i+1, true)
//				…
//
// The function that calls New is taken for the constructor, and advice is given for its callers.
//
// In a program that was not built with --advise, or does not count, each call is a load and a
// branch, and the program does not contain the code that counts.
package containers
