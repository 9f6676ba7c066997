// Package anonymize makes a copy of a trace that can be given away: with the same times, kinds,
// rows and counts, and nothing in it that identifies the program, its user or its machine.
//
// Only what is known to be harmless is kept: every chunk is decoded and encoded again by this
// version of the format. So no bytes are copied that have no meaning, or one that only a later
// version defines.
//
// A text becomes its keyed hash: eight letters and digits, which take no more room than the text
// did. Arguments are left out, so that records move towards their chunk's beginning. Ends apart and
// carries, which hold a record's location, get its new location.
package anonymize
