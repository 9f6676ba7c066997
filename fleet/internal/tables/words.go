package tables

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Null is the unknown value.
const Null = -1 << 63

// Words are the texts shared by rows. A text is identified by its index.
type Words struct {
	texts  []string
	values []parquet.Value
	known  map[string]int64
	ranks  []int32 // by index, of the first len(ranks)
}

// NewWords returns Words with those initial texts, unchanged: the first has index 0.
func NewWords(first []string) *Words {
	w := &Words{known: make(map[string]int64, len(first))}
	for _, s := range first {
		w.add(s)
	}
	return w
}

func (w *Words) add(s string) int64 {
	n := int64(len(w.texts))
	w.texts = append(w.texts, s)
	w.values = append(w.values, parquet.ByteArrayValue([]byte(s)))
	if _, ok := w.known[s]; !ok {
		w.known[s] = n
	}
	return n
}

// Of returns the index of a text, adding it if necessary; Null for "".
func (w *Words) Of(s string) int64 {
	if s == "" {
		return Null
	}
	if n, ok := w.known[s]; ok {
		return n
	}
	return w.add(s)
}

// order returns the ranks of all words by text, dense from 0.
func (w *Words) order() []int32 {
	if len(w.ranks) == len(w.texts) {
		return w.ranks
	}
	by := make([]int32, len(w.texts))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return cmp.Compare(w.texts[a], w.texts[b]) })
	w.ranks = make([]int32, len(by))
	rank := int32(0)
	for i, n := range by {
		if i > 0 && w.texts[n] != w.texts[by[i-1]] {
			rank++
		}
		w.ranks[n] = rank
	}
	return w.ranks
}
