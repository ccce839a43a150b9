//go:build slow

package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/skillpm/skillpm/pkg/internal/testkit/browsertest"
)

// shown is a browser with pages in files.
type shown struct {
	t    *testing.T
	ctx  context.Context
	dir  string
	mu   sync.Mutex
	said []string // errors of the console, and requests for more than the pages
}

// launch starts a headless browser and writes the pages.
func launch(t *testing.T) *shown {
	s := &shown{t: t, dir: t.TempDir()}
	for name, n := range map[string]int{"none": 0, "one": 1, "few": 40, "many": 3000} {
		if err := os.WriteFile(s.file(name), []byte(page(t, manyRecords(n, time.Duration(n)*20*time.Minute))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.ctx = browsertest.Start(t)
	chromedp.ListenTarget(s.ctx, s.hear)
	s.run(log.Enable(), network.Enable())
	return s
}

func (s *shown) hear(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		s.said = append(s.said, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		s.said = append(s.said, e.Entry.URL+": "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") || !strings.HasSuffix(e.Request.URL, ".html") {
			s.said = append(s.said, "a request for "+e.Request.URL)
		}
	}
}

func (s *shown) file(name string) string { return filepath.Join(s.dir, name+".html") }

func (s *shown) run(actions ...chromedp.Action) {
	s.t.Helper()
	if err := chromedp.Run(s.ctx, actions...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shown) open(name string) {
	s.t.Helper()
	s.run(chromedp.Navigate("file://" + filepath.ToSlash(s.file(name))))
}

func (s *shown) value(expression string) string {
	s.t.Helper()
	var v any
	s.run(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	return fmt.Sprint(v)
}

func (s *shown) dark(scheme string) {
	s.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

func (s *shown) quiet() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.said {
		s.t.Error(said)
	}
}

// TestBrowserPage checks that the page fits a phone, has a dark theme, and loads no other resources. SKILLPM_PICTURES
// is a directory for screenshots.
func TestBrowserPage(t *testing.T) {
	s := launch(t)
	for _, name := range []string{"none", "one", "few", "many"} {
		s.run(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
		s.open(name)
		if got := s.value("document.documentElement.scrollWidth + ' of ' + window.innerWidth"); got != "360 of 360" {
			t.Errorf("%s is %s pixels wide on a phone", name, got)
		}
		s.picture(name + "-phone")
		s.run(chromedp.EmulateViewport(1200, 800))
		const bright = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0) > 380"
		for scheme, want := range map[string]string{"light": "true", "dark": "false"} {
			s.dark(scheme)
			if got := s.value(bright); got != want {
				t.Errorf("%s, %s: bright is %s", name, scheme, got)
			}
			s.picture(name + "-" + scheme)
		}
		s.dark("light")
		if got := s.value("document.querySelectorAll('svg[role=img]').length > 0"); got != fmt.Sprint(name != "none") {
			t.Errorf("%s: there are charts: %s", name, got)
		}
		if got := s.value("[...document.querySelectorAll('svg rect')].every(r => r.getBoundingClientRect().width > 0 && r.getBoundingClientRect().height > 0)"); got != "true" {
			t.Errorf("%s: a bar cannot be seen", name)
		}
	}
	s.quiet()
}

func (s *shown) picture(name string) {
	dir := os.Getenv("SKILLPM_PICTURES")
	if dir == "" {
		return
	}
	var data []byte
	s.run(chromedp.FullScreenshot(&data, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestBrowserAccessible runs all rules of axe-core on the page, with the light and the dark theme.
func TestBrowserAccessible(t *testing.T) {
	file := os.Getenv("SKILLPM_AXE")
	if file == "" && os.Getenv("SKILLPM_REQUIRE_NPM") == "1" {
		t.Fatal("SKILLPM_AXE does not name axe.min.js")
	}
	if file == "" {
		t.Skip("SKILLPM_AXE does not name axe.min.js")
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := launch(t)
	for _, scheme := range []string{"light", "dark"} {
		s.dark(scheme)
		for _, name := range []string{"none", "one", "few", "many"} {
			s.open(name)
			s.run(chromedp.Evaluate("document.querySelectorAll('details').forEach(d => d.open = true)", nil), chromedp.Evaluate(string(axe), nil))
			var wrong []struct {
				ID, Help string
				Nodes    []struct{ HTML, FailureSummary string }
			}
			if err := json.Unmarshal([]byte(s.value("axe.run().then(r => JSON.stringify(r.violations))")), &wrong); err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong {
				t.Errorf("%s, %s: %s: %s: %d times, as in %s\n%s", name, scheme, w.ID, w.Help, len(w.Nodes), w.Nodes[0].HTML, w.Nodes[0].FailureSummary)
			}
		}
	}
	s.quiet()
}
