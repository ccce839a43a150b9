package atom

import "bytes"

// Window is a part of a text in which many texts are searched. The zero value is an empty window.
type Window struct {
	Text  []byte // in lower case
	pairs [16]uint64
}

// pair returns the bit for two bytes. No other letters of ASCII in lower case share it.
func pair(a, b byte) uint { return uint(a&31)<<5 | uint(b&31) }

// Set makes a text the content of the window. It folds ASCII only.
func (w *Window) Set(text []byte) {
	w.Text, w.pairs = append(w.Text[:0], text...), [16]uint64{}
	last := byte(0)
	for i, c := range w.Text {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
			w.Text[i] = c
		}
		bit := pair(last, c)
		w.pairs[bit>>6] |= 1 << (bit & 63)
		last = c
	}
}

// may reports whether the window has the neighbors of which a text consists. Most texts fail with the first of them.
func (w *Window) may(text string) bool {
	for i := 1; i < len(text); i++ {
		bit := pair(text[i-1], text[i])
		if w.pairs[bit>>6]&(1<<(bit&63)) == 0 {
			return false
		}
	}
	return true
}

// Index returns the first offset of a text in lower case, or -1.
func (w *Window) Index(text string) int {
	if !w.may(text) {
		return -1
	}
	return bytes.Index(w.Text, []byte(text))
}
