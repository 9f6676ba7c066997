package anonymize

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"

	"github.com/scopeview/scopeview/internal/format"
)

// hasher turns a text into a hash that reveals only whether two texts are equal.
type hasher struct {
	key []byte
	ids cipher.Block // for the ids of links, of which there are many
}

// newHasher derives a key from the salt, or takes a random one: that is not kept, so no list of
// likely names can be tried.
func newHasher(salt string) *hasher {
	h := &hasher{key: make([]byte, sha256.Size)}
	if salt == "" {
		_, _ = rand.Read(h.key) // never fails
	} else {
		key := sha256.Sum256([]byte("scopeview anonymize\x00" + salt))
		h.key = key[:]
	}
	h.ids, _ = aes.NewCipher(h.sum("ids", "")) // a key of 32 bytes is valid
	return h
}

// sum returns the keyed hash of a text; what separates kinds of texts.
func (h *hasher) sum(what, text string) []byte {
	m := hmac.New(sha256.New, h.key)
	m.Write([]byte(what + "\x00" + text))
	return m.Sum(nil)
}

// letters are the digits of hashes: none of them has a meaning in a filter, a file name or a format
// for arguments.
const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// hashed is the length of a hash: that of the shortest text in a block. Of 65,536 names two collide
// once in 100,000 traces.
const hashed = 8

// text returns the hash of a text as a text; the empty text stays.
func (h *hasher) text(what, text string) string {
	if text == "" {
		return ""
	}
	n := binary.LittleEndian.Uint64(h.sum(what, text))
	var b [hashed]byte
	for i := range b {
		b[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return string(b[:])
}

// address returns the hash of an address, in the form of an address.
func (h *hasher) address(a uint64) uint64 {
	if a == 0 {
		return 0
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], a)
	return 0xc000000000 | binary.LittleEndian.Uint64(h.sum("address", string(b[:])))&(1<<38-1)&^7
}

// link replaces the ids in the slots of a link: equal ones stay equal, also in another copy with
// the same salt.
func (h *hasher) link(slots []format.Slot) {
	id := func(a, b uint64) (uint64, uint64) {
		if a|b == 0 {
			return 0, 0
		}
		var p [aes.BlockSize]byte
		binary.LittleEndian.PutUint64(p[:], a)
		binary.LittleEndian.PutUint64(p[8:], b)
		h.ids.Encrypt(p[:], p[:])
		return binary.LittleEndian.Uint64(p[:]), binary.LittleEndian.Uint64(p[8:])
	}
	slots[0].Value, slots[1].Value = id(slots[0].Value, slots[1].Value)
	slots[2].Value, _ = id(slots[2].Value, 0)
	slots[3].Value, _ = id(slots[3].Value, 0)
}
