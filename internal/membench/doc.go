// Package membench measures how much memory a machine moves with one core, two, and so
// on up to all of them, and from how many on further ones bring nothing: what a program
// that only waits for memory can't get beyond.
package membench
