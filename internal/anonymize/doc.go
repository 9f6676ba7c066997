// Package anonymize makes a copy of a trace that can be given away: with the same
// times, kinds, rows and counts, and nothing in it that the program, its user or
// its machine is known by.
//
// Whatever is not known to be harmless goes: every chunk is taken apart and put together
// again from what this version of the format says of it. So bytes are not copied that have
// no meaning, or one that only a later version knows.
//
// A text becomes its keyed hash: eight letters and digits, which take no more
// room than the text did. Arguments are left out, so that records move towards
// their chunk's beginning. An end apart, or a carry, that says where a record is says
// where it is after the move.
package anonymize
