package markdown

import (
	"sync"
	"testing"
)

func TestHasAnchor(t *testing.T) {
	p := Read([]byte("# One Thing!\n\nTwo\n[things](x \"no\") `three` <b id=no4>\n---\n\n## Custom {#own-name}\n\n### **Ünï** _5_ &amp; <i>six</i>\n\n"+
		"<a id=\"html&#45;id\"></a>\n\n> # Quoted\n\n- ## Listed ##\n\n```\n# Code\n```\n\n<p name=P>\n"), 0)
	for anchor, want := range map[string]bool{
		"one-thing": true, "One_Thing": true, "one-thing-2": true, "onething": true, "one": false, "": true, "top": true, "-": true,
		"two-things-three": true, "two-things": false, "no": false, "own-name": true, "custom": false, "ünï-5-amp-six": true,
		"html-id": true, "no4": true, "quoted": true, "listed": true, "code": false, "p": true, "name": true, "7": false,
	} {
		if p.HasAnchor(anchor) != want {
			t.Errorf("%q: %t", anchor, !want)
		}
	}
}

// TestHasAnchorConcurrent checks that several goroutines can query a page.
func TestHasAnchorConcurrent(t *testing.T) {
	p := Read([]byte("# A\n"), 0)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !p.HasAnchor("a") || p.HasAnchor("b") {
				t.Error("wrong")
			}
		})
	}
	all.Wait()
}
