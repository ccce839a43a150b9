package catalog

import (
	"encoding/binary"
	"math"
)

// codec encodes values in sequence, or decodes them in the same sequence, so that one function describes a format for
// both directions. Numbers are varints; texts and lists are prefixed with their length. After a value that cannot be
// decoded, bad is set and all further values are zero.
type codec struct {
	data    []byte // output, or remaining input
	reading bool
	bad     bool
}

func (c *codec) fail() { c.bad, c.data = true, nil }

// number codes an integer.
func number[T ~int | ~int64 | ~uint8 | ~uint64](c *codec, n *T) {
	if !c.reading {
		c.data = binary.AppendVarint(c.data, int64(*n))
		return
	}
	v, size := binary.Varint(c.data)
	if *n = T(v); size <= 0 || int64(*n) != v {
		*n = 0
		c.fail()
		return
	}
	c.data = c.data[size:]
}

func (c *codec) float(f *float64) {
	bits := math.Float64bits(*f)
	number(c, &bits)
	*f = math.Float64frombits(bits)
}

func (c *codec) flag(on *bool) {
	var b uint8
	if *on {
		b = 1
	}
	number(c, &b)
	*on = b != 0
}

func (c *codec) text(s *string) {
	n := len(*s)
	number(c, &n)
	switch {
	case !c.reading:
		c.data = append(c.data, *s...)
	case n < 0 || n > len(c.data):
		*s = ""
		c.fail()
	default:
		*s, c.data = string(c.data[:n]), c.data[n:]
	}
}

// list codes the items of a list, each of which takes at least one byte.
func list[T any](c *codec, items *[]T, item func(*T)) {
	n := len(*items)
	number(c, &n)
	if !c.reading {
		for i := range *items {
			item(&(*items)[i])
		}
		return
	}
	if n < 0 || n > len(c.data) {
		c.fail()
	}
	if *items = nil; n == 0 || c.bad {
		return
	}
	const trusted = 1 << 14 // a wrong length must not allocate much memory
	*items = make([]T, 0, min(n, trusted))
	for i := 0; i < n && !c.bad; i++ {
		*items = append(*items, *new(T))
		item(&(*items)[i])
	}
}

// optional codes a value that may be nil.
func optional[T any](c *codec, value **T, item func(*T)) {
	present := *value != nil
	if c.flag(&present); !present {
		*value = nil
		return
	}
	if c.reading {
		*value = new(T)
	}
	item(*value)
}
