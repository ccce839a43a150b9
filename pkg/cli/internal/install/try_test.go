package install

import "testing"

// TestBodyText prints a text with terminal control sequences.
func TestBodyText(t *testing.T) {
	data := []byte("a\x1b[2J\xff\n")
	if got, want := bodyText(data, true), "a<U+001B>[2J<0xFF>\n"; got != want {
		t.Errorf("%q on a terminal, want %q", got, want)
	}
	if got := bodyText(data, false); got != string(data) {
		t.Errorf("%q elsewhere, want it as it is", got)
	}
}
