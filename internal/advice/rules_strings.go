package advice

import (
	"fmt"

	"github.com/scopeview/scopeview/internal/advice/row"
	"github.com/scopeview/scopeview/internal/show"
)

var stringRules = []Rule{
	{ID: "string-concat", Group: Strings, Kinds: []row.Kind{row.Concat}, Judge: stringConcat},
	{ID: "builder-growth", Group: Strings, Kinds: []row.Kind{row.Slice}, Judge: builderGrowth},
	{ID: "buffer-growth", Group: Strings, Kinds: []row.Kind{row.Slice}, Judge: bufferGrowth},
	{ID: "read-all", Group: Strings, Kinds: []row.Kind{row.Slice}, Judge: readAll},
	{ID: "bytes-string-conversion", Group: Strings, Kinds: []row.Kind{row.Convert}, Judge: conversion},
	{ID: "regexp-in-loop", Group: Strings, Kinds: []row.Kind{row.Compile}, Judge: regexpInLoop},
}

// stringConcat: repeated concatenation to a string copies all of it each time. A
// strings.Builder allocates about three times the added bytes, and copies them twice.
func stringConcat(r *Row, w Weights) (j Judgement) {
	steps := r.V(row.Grown)
	if steps == 0 || r.library() {
		return j
	}
	added := r.V(row.AllocBytes) - r.V(row.Copied)
	copied, bytesMade := r.V(row.Copied)-added, r.V(row.AllocBytes)-3*added
	j.NS = copied*w[copyByte] + bytesMade*w[allocAgain] + steps*w[alloc]
	j.Bytes = max(bytesMade, 0)
	j.Ops = copied / 8
	j.Advice = fmt.Sprintf("a strings.Builder instead of + saves %s and copying %s: each step copies the whole previous string", show.Plural(steps, "allocation"), show.Size(r.V(row.Copied)))
	if r.V(row.Front) > steps/2 {
		j.Advice = fmt.Sprintf("collecting the parts in a slice, slices.Reverse and strings.Join instead of putting each in front saves %s and copying %s", show.Plural(steps, "allocation"), show.Size(r.V(row.Copied)))
	}
	j.Evidence = []string{fmt.Sprintf("%s of %s added to a string that was built in 7 steps or more; results of up to %s", show.Count(steps), show.Plural(r.V(row.Made), "concatenation"), show.Size(r.V(row.MaxLen)))}
	j.Stoppers = []string{"the intermediate strings must not be needed"}
	return j
}

// builderGrowth: with Grow nothing is copied, and no array is outgrown.
func builderGrowth(r *Row, w Weights) (j Judgement) {
	if r.V(row.Grown) > 0 && r.buffer() == "strings.Builder" {
		j = growth(r, w, "b.Grow(%d)")
	}
	return j
}

// bufferGrowth is the same for a bytes.Buffer.
func bufferGrowth(r *Row, w Weights) (j Judgement) {
	if r.V(row.Grown) == 0 || r.buffer() != "bytes.Buffer" {
		return j
	}
	if !r.through("bytes.(*Buffer).Grow ") {
		return growth(r, w, "b.Grow(%d), or a Buffer that is kept and Reset,")
	}
	j = growth(r, w, "b.Grow(%d) instead of less")
	j.Stoppers = append(j.Stoppers, "ReadFrom, and io.Copy into a Buffer, need room for bytes.MinRead more than they read")
	return j
}

func growth(r *Row, w Weights, advice string) (j Judgement) {
	n := r.P(row.Len, 0.99)
	j.NS = r.V(row.Copied)*w[copyByte] + r.V(row.Grown)*w[alloc] + r.V(row.GrownBytes)*w[allocByte]
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Copied) / 8
	j.Advice = fmt.Sprintf(advice+" in front saves %s and copying %s", n, show.Plural(r.V(row.Grown), "allocation"), show.Size(r.V(row.Copied)))
	j.Evidence = lengths(r, r.buffer(), r.buffer()+"s", "bytes")
	if unknown := r.V(row.Made) - r.V(row.Exact); unknown > 0 {
		j.Evidence = append(j.Evidence, fmt.Sprintf("for %s only the final capacity is known: the length is at most %s", show.Plural(unknown, r.buffer()), show.Count(r.P(row.Cap, 0.99))))
	}
	j.Stoppers = spread(r)
	return j
}

// readAll: if the size is known, the data can be read into an array of that size.
func readAll(r *Row, w Weights) (j Judgement) {
	if r.V(row.Copied) == 0 || r.V(row.CapBytes) != 0 || r.buffer() != "io.ReadAll" {
		return j
	}
	j.NS = r.V(row.Copied)*(w[copyByte]+w[allocByte]) + r.V(row.Grown)*w[alloc]
	j.Bytes = r.V(row.GrownBytes)
	j.Ops = r.V(row.Copied) / 8
	j.Advice = fmt.Sprintf("io.ReadFull into a slice of the size, where that is known, or a bytes.Buffer that is kept and Reset, saves %s and copying %s", show.Plural(r.V(row.Grown), "allocation"), show.Size(r.V(row.Copied)))
	j.Evidence = lengths(r, "io.ReadAll", "io.ReadAlls", "bytes")
	j.Stoppers = append(spread(r), "the size must be known before: from a file's Stat, or a Content-Length (bounded, as it is not trusted)")
	return j
}

// conversion: data copied between string and []byte or []rune could keep its type.
func conversion(r *Row, w Weights) (j Judgement) {
	ns := r.V(row.Allocs)*w[alloc] + r.V(row.AllocBytes)*(w[allocAgain]+w[copyByte])
	ofBuffer := len(r.Stack) > 0 && begins(r.Stack[0], "bytes.(*Buffer).String ")
	if r.library() && !ofBuffer || !r.matters(ns) {
		return j
	}
	j.NS, j.Bytes, j.Ops = ns, r.V(row.AllocBytes), r.V(row.AllocBytes)/8
	saves := fmt.Sprintf("saves %s of %s, and copying them", show.Plural(r.V(row.Allocs), "allocation"), show.Size(r.V(row.AllocBytes)))
	switch {
	case ofBuffer:
		j.Advice = "a strings.Builder, whose String does not copy, or the Buffer's Bytes, " + saves
	case r.V(row.OfRunes) > 0 && r.Type == "":
		j.Advice = "range over the string, or package utf8, instead of []rune " + saves
	case r.V(row.OfRunes) > 0:
		j.Advice = "a strings.Builder with WriteRune instead of string of []rune " + saves
	case r.Type == "string":
		j.Advice = "keeping the []byte (package bytes has the functions of strings), or converting once, " + saves
	default:
		j.Advice = "keeping the string (append, io.WriteString and strings.NewReader take one), or converting once, " + saves
	}
	j.Evidence = lengths(r, "conversion", "conversions", "bytes")
	if r.Type == "string" && r.V(row.OfRunes) == 0 && !ofBuffer {
		j.Stoppers = []string{"a string that is kept needs its own copy if the []byte is written to later"}
	}
	return j
}

// regexpInLoop: a regular expression that is compiled again could be kept. A counting build
// also reports the allocations of a compilation: so the time is limited by an estimate from
// the pattern's length.
func regexpInLoop(r *Row, w Weights) (j Judgement) {
	again := r.V(row.Recompiled)
	if again < r.V(row.Made)/2 {
		return j
	}
	for _, f := range r.Stack {
		if !r.standard(f) {
			break
		}
		if !begins(f, "regexp.") {
			return j // in the standard library
		}
	}
	j.NS, j.Ops = min(r.V(row.NS), r.V(row.RecompiledBytes)*w[regexpByte]), again
	j.Advice = fmt.Sprintf("regexp.MustCompile once, in a variable outside, saves compiling %s again", show.Plural(again, "regular expression"))
	j.Evidence = []string{fmt.Sprintf("of %s, %s had been compiled before; each takes about %s", show.Plural(r.V(row.Made), "regular expression"), show.Count(again), show.Duration(j.NS/max(again, 1)))}
	return j
}
