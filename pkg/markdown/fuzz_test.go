package markdown

import "testing"

// FuzzRead: any text is read as goldmark reads it.
func FuzzRead(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if difference, _ := compare(text); difference != "" {
			t.Fatalf("%q: %s", text, difference)
		}
	})
}

var seeds = []string{"# a\n\n[b](c) `d`\n"}
