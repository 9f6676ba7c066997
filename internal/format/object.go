package format

import "fmt"

// Object is the address range of a file's code, for the addresses in code blocks.
type Object struct {
	From, To uint64
	Addr     uint64 // of From, in the file's own tables; 0: none
	BuildID  string // of Go; "": unknown
	Path     string // if it is not a file, a name in brackets, or //anon
}

// AppendObject appends o's payload; its texts are cut to MaxName.
func AppendObject(b []byte, o *Object) []byte {
	return Blocks[BlockObject].Append(b, []Value{
		{N: int64(o.From)}, {N: int64(o.To)}, {N: int64(o.Addr)},
		{B: []byte(o.BuildID[:min(len(o.BuildID), MaxName)])}, {B: []byte(o.Path[:min(len(o.Path), MaxName)])},
	})
}

// DecodeObject reads an object block's payload.
func DecodeObject(p []byte) (o Object, err error) {
	v, err := decode(BlockObject, p)
	if err != nil {
		return o, err
	}
	o = Object{uint64(v[0].N), uint64(v[1].N), uint64(v[2].N), string(v[3].B), string(v[4].B)}
	if o.To <= o.From {
		err = fmt.Errorf("%w: an object from 0x%x to 0x%x", ErrCorrupt, o.From, o.To)
	}
	return o, err
}

// Program is the process to which a thread belongs from a time on, and its
// executable.
type Program struct {
	Thread, PID uint32
	Base        int64  // ns of the monotonic clock
	Path        string // of the executable; "": unknown
}

// AppendProgram appends x's payload; its text is cut to MaxName.
func AppendProgram(b []byte, x *Program) []byte {
	return Blocks[BlockProgram].Append(b, []Value{
		{N: int64(x.Thread)}, {N: int64(x.PID)}, {N: x.Base}, {B: []byte(x.Path[:min(len(x.Path), MaxName)])},
	})
}

// DecodeProgram reads a program block's payload.
func DecodeProgram(p []byte) (x Program, err error) {
	v, err := decode(BlockProgram, p)
	if err == nil {
		x = Program{uint32(v[0].N), uint32(v[1].N), v[2].N, string(v[3].B)}
	}
	return x, err
}
