// Package containers has somebody's own containers get the advice that Go's slices and maps get:
// scopeview run --advise says which hash table begins too small, whose hash function puts too much into
// one bucket, and which buffer is larger than what is ever in it.
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
// Advice is for who calls the function that calls New, which is taken for the constructor.
//
// In a program that was not built with --advise, or does not count, each call is a load and a branch, and
// nothing that counts is in it.
package containers
