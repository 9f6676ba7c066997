package pgo

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The wire format of protocol buffers: a message is a sequence of fields, each a key (its
// number and its wire type) and a value.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// fieldMost limits a field of a profile, such as a sample with its stack or a function's name.
const fieldMost = 16 << 20

var errField = errors.New("a field ends behind its message")

// message is the unread rest of a message.
type message []byte

// varint takes a number.
func (m *message) varint() (uint64, error) {
	v, n := binary.Uvarint(*m)
	if n <= 0 {
		return 0, errField
	}
	*m = (*m)[n:]
	return v, nil
}

// field takes a field. If it is bytes, data is its value, otherwise n.
func (m *message) field() (number int, n uint64, data message, err error) {
	key, err := m.varint()
	if err != nil {
		return 0, 0, nil, err
	}
	take := 0
	switch key & 7 {
	case wireVarint:
		n, err = m.varint()
		return int(key >> 3), n, nil, err
	case wire64:
		take = 8
	case wire32:
		take = 4
	case wireBytes:
		size, err := m.varint()
		if err != nil || size > uint64(len(*m)) {
			return 0, 0, nil, errField
		}
		take = int(size)
	default:
		return 0, 0, nil, fmt.Errorf("a field is of the unknown kind %d", key&7)
	}
	if take > len(*m) {
		return 0, 0, nil, errField
	}
	data, *m = (*m)[:take:take], (*m)[take:]
	return int(key >> 3), 0, data, nil
}

// stream reads the fields of a message that is too large for memory.
type stream struct {
	r      *bufio.Reader
	offset int64
	buf    []byte
}

// next reads a field. If it is bytes, data is its value, valid until the next call, otherwise
// n. At the end the error is io.EOF.
func (s *stream) next() (number int, n uint64, data message, err error) {
	if _, err := s.r.Peek(1); err == io.EOF {
		return 0, 0, nil, io.EOF
	}
	key, err := s.varint()
	if err != nil {
		return 0, 0, nil, err
	}
	number = int(key >> 3)
	switch key & 7 {
	case wireVarint:
		n, err = s.varint()
	case wireBytes:
		var size uint64
		if size, err = s.varint(); err != nil {
			break
		}
		if size > fieldMost {
			err = fmt.Errorf("field %d has %d bytes; more than %d are no profile's", number, size, fieldMost)
			break
		}
		data, err = s.take(int(size))
	default:
		err = fmt.Errorf("field %d is of kind %d, which a profile has none of", number, key&7)
	}
	return number, n, data, err
}

func (s *stream) varint() (uint64, error) {
	v := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		b, err := s.r.ReadByte()
		if err != nil {
			return 0, noEOF(err)
		}
		s.offset++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("a number has more than 64 bits")
}

// take reads size bytes. It allocates piecemeal, since size comes from the file.
func (s *stream) take(size int) (message, error) {
	if s.buf == nil {
		s.buf = make([]byte, 0, 4096)
	}
	s.buf = s.buf[:0]
	for len(s.buf) < size {
		n := min(size-len(s.buf), 64<<10)
		at := len(s.buf)
		if cap(s.buf)-at < n {
			s.buf = append(s.buf, make([]byte, n)...)
		}
		s.buf = s.buf[:at+n]
		if _, err := io.ReadFull(s.r, s.buf[at:]); err != nil {
			return nil, noEOF(err)
		}
	}
	s.offset += int64(size)
	return s.buf[:size:size], nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
