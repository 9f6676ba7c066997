package unwind

import "testing"

// code is bytes at 0x1000, of one processor.
type code struct {
	arch  string
	bytes []byte
}

const codeAt = 0x1000

func (c code) Arch() string                               { return c.arch }
func (c code) Function(uint64) (from, to uint64, ok bool) { return 0, 0, false }
func (c code) Stub(uint64) bool                           { return false }
func (c code) Begin(uint64) bool                          { return false }
func (c code) Rule(uint64) Rule                           { return Rule{} }
func (c code) Code(pc uint64, n int) []byte {
	if pc < codeAt || pc-codeAt+uint64(n) > uint64(len(c.bytes)) {
		return nil
	}
	return c.bytes[pc-codeAt:][:n]
}

// TestTargets: a direct call before a return address has a target, an indirect call may have
// any, and anything else is refuted.
func TestTargets(t *testing.T) {
	for name, c := range map[string]struct {
		arch  string
		code  []byte
		to    uint64
		proof proof
	}{
		"amd64 forward":                  {"amd64", []byte{0xe8, 0x10, 0, 0, 0}, 0x1018, direct},
		"amd64 back":                     {"amd64", []byte{0xe8, 0xfb, 0xff, 0xff, 0xff}, 0x1003, direct},
		"amd64 CALL x(IP)":               {"amd64", []byte{0xff, 0x15, 0x10, 0, 0, 0}, 0, possible},
		"amd64 CALL AX":                  {"amd64", []byte{0xff, 0xd0}, 0, possible},
		"amd64 CALL R12":                 {"amd64", []byte{0x41, 0xff, 0xd4}, 0, possible},
		"amd64 CALL (DX)":                {"amd64", []byte{0xff, 0x12}, 0, possible},
		"amd64 CALL 8(AX)":               {"amd64", []byte{0xff, 0x50, 0x08}, 0, possible},
		"amd64 CALL 8(SP)":               {"amd64", []byte{0xff, 0x54, 0x24, 0x08}, 0, possible},
		"amd64 CALL 0x100(AX)":           {"amd64", []byte{0xff, 0x90, 0, 1, 0, 0}, 0, possible},
		"amd64 CALL 0x100(R12)":          {"amd64", []byte{0x41, 0xff, 0x94, 0x24, 0, 1, 0, 0}, 0, possible},
		"amd64 CALL (DX)(AX*8)":          {"amd64", []byte{0xff, 0x14, 0xc2}, 0, possible},
		"amd64 CALL AX behind MOV $e8":   {"amd64", []byte{0xb8, 0, 0, 0xe8, 0, 0, 0xff, 0xd0}, 0, possible},
		"amd64 JMP AX":                   {"amd64", []byte{0xff, 0xe0}, 0, refuted},
		"amd64 NOP":                      {"amd64", []byte{0x90}, 0, refuted},
		"amd64 32 bits of a far address": {"amd64", []byte{0xe8, 0, 0, 0, 0x80}, 0xffffffff80001008, direct},
		"arm64 forward":                  {"arm64", []byte{0x04, 0x00, 0x00, 0x94}, 0x1014, direct},
		"arm64 back":                     {"arm64", []byte{0xff, 0xff, 0xff, 0x97}, 0x1000, direct},
		"arm64 BLR X0":                   {"arm64", []byte{0x00, 0x00, 0x3f, 0xd6}, 0, possible},
		"arm64 RET":                      {"arm64", []byte{0xc0, 0x03, 0x5f, 0xd6}, 0, refuted},
		"another processor":              {"riscv64", []byte{0xe8, 0x10, 0, 0, 0}, 0, refuted},
	} {
		b := append(make([]byte, max(8-len(c.code), 0)), c.code...)
		if to, got := target(code{c.arch, b}, codeAt+8); to != c.to || got != c.proof {
			t.Errorf("%s: %#x, proof %d; want %#x, %d", name, to, got, c.to, c.proof)
		}
	}
}
