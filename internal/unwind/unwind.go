// Package unwind finds the callers of sampled code.
//
// # Design
//
// The kernel follows frame pointers. Code that has no frame of its own at the sampled
// instruction leaves the frame pointer of its caller in the register, so the first return
// address in the kernel's chain is that of the caller's caller. This holds for every function
// in its prologue and after the end of its frame, and for functions without a frame pointer.
//
//  1. A Rule gives, for an address, the place of the return address. It comes from the
//     compiler: Go's table of stack depths, DWARF's call frame information, or the prologue
//     itself.
//  2. If the frame pointer is the caller's, the return address is read from the words at the
//     stack pointer, which samples have too.
//  3. Independent of that, a caller must have called: the instruction before the return address
//     is a call, and a direct one goes to the function, or to one that jumps to it. Otherwise
//     the link is refuted.
//  4. An unknown caller becomes UnknownCaller, and the walk continues with the frames that the
//     chain has above it. It ends where the frame pointer may have any value.
package unwind

// UnknownCaller and Truncated stand in a stack for unknown callers: one or several, and those
// beyond the longest chain that the kernel keeps.
const (
	UnknownCaller = ^uint64(1)
	Truncated     = ^uint64(2)
)

// How is the way to find a caller.
type How uint8

// The ways to find a caller.
const (
	Unknown   How = iota
	ByPointer     // the frame pointer is the function's own
	OnStack       // the return address is above the stack pointer, the frame pointer is the caller's
	InLink        // the return address is in the link register, the frame pointer is the caller's
	Outermost     // it has no caller
)

// Rule describes how to find the caller of the code at an address.
type Rule struct {
	How    How
	Offset uint64 // for OnStack: of the return address, relative to the stack pointer
	// Clobbered reports that the frame pointer's register may have any value: the function has
	// saved the caller's and uses the register for something else.
	Clobbered bool
}

// Text is the code that a process has mapped.
type Text interface {
	Arch() string // as GOARCH
	// Function returns the bounds of the function that contains an address.
	Function(pc uint64) (from, to uint64, ok bool)
	// Code returns n bytes of code, or nil if they can't be read.
	Code(pc uint64, n int) []byte
	// Stub reports whether code is a stub for a function of another file.
	Stub(pc uint64) bool
	Rule(pc uint64) Rule
	// Begin reports whether the system begins a program with a function, so that its callers
	// are of no interest.
	Begin(pc uint64) bool
}

// Stack is a thread's stack as sampled by the kernel.
type Stack struct {
	PCs   []uint64 // the sampled instruction, then the return addresses found by frame pointers
	Cut   bool     // there may be more of them than the kernel keeps
	Words []byte   // the stack's contents, from the stack pointer on
	Link  uint64   // the link register; 0: none, or unknown
}

// Cache keeps results about a Text, which must not change. The zero value is empty.
type Cache struct {
	rules map[uint64]Rule
	links map[[2]uint64]link
}

// mostCached limits a cache, because a program may generate code without end.
const mostCached = 1 << 17

func (c *Cache) rule(text Text, pc uint64) Rule {
	r, ok := c.rules[pc]
	if !ok {
		if len(c.rules) >= mostCached || c.rules == nil {
			c.rules = map[uint64]Rule{}
		}
		r = text.Rule(pc)
		c.rules[pc] = r
	}
	return r
}

func (c *Cache) link(text Text, ret, callee uint64) link {
	k := [2]uint64{ret, callee}
	l, ok := c.links[k]
	if !ok {
		if len(c.links) >= mostCached || c.links == nil {
			c.links = map[[2]uint64]link{}
		}
		l = linked(text, ret, callee)
		c.links[k] = l
	}
	return l
}
