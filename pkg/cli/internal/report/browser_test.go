//go:build slow

package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/testkit/browsertest"
)

func browserPages(t *testing.T) *browsertest.Pages {
	pages := map[string]string{}
	for name, n := range map[string]int{"none": 0, "one": 1, "few": 40, "many": 3000} {
		pages[name] = page(t, manyRecords(n, time.Duration(n)*20*time.Minute))
	}
	return browsertest.Open(t, pages)
}

// TestBrowserPage checks that the page fits a phone, has a dark theme, and loads no other resources. SKILLPM_PICTURES
// is a directory for screenshots.
func TestBrowserPage(t *testing.T) {
	p := browserPages(t)
	p.CheckLayout(func(name string) {
		if got := p.Value("document.querySelectorAll('svg[role=img]').length > 0"); got != fmt.Sprint(name != "none") {
			t.Errorf("%s: there are charts: %s", name, got)
		}
		if got := p.Value("[...document.querySelectorAll('svg rect')].every(r => r.getBoundingClientRect().width > 0 && r.getBoundingClientRect().height > 0)"); got != "true" {
			t.Errorf("%s: a bar cannot be seen", name)
		}
	})
}

// TestBrowserAccessible runs all rules of axe-core on the page, with the light and the dark theme.
func TestBrowserAccessible(t *testing.T) {
	axe := browsertest.Axe(t)
	browserPages(t).CheckAccessible(axe)
}
