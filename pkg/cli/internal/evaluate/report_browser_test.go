//go:build slow

package evaluate_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/browsertest"
)

func browserPages(t *testing.T) *browsertest.Pages {
	pages := map[string]string{}
	for name, c := range samples() {
		pages[name] = html(t, c.report, c.base)
	}
	return browsertest.Open(t, pages)
}

// TestBrowserPage checks that the page fits a phone, has a dark theme, and loads no other resources. SKILLPM_PICTURES
// is a directory for screenshots.
func TestBrowserPage(t *testing.T) {
	p := browserPages(t)
	p.CheckLayout(func(name string) {
		const seen = "[...document.querySelectorAll('.row svg, .strip svg')].every(s => s.getBoundingClientRect().width > 10)"
		if got := p.Value(seen); got != "true" {
			t.Errorf("%s: a chart cannot be seen", name)
		}
		const named = "[...document.querySelectorAll('svg')].every(s => s.ariaHidden === 'true' || s.querySelector('title').textContent)"
		if got := p.Value(named); got != "true" {
			t.Errorf("%s: a chart does not have a title", name)
		}
	})
}

// TestBrowserAccessible runs all rules of axe-core on the page, with the light and the dark theme.
func TestBrowserAccessible(t *testing.T) {
	axe := browsertest.Axe(t)
	browserPages(t).CheckAccessible(axe)
}
