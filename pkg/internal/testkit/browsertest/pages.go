//go:build slow

package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Pages are self-contained pages in a browser.
type Pages struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	names []string

	mu       sync.Mutex
	problems []string // errors of the console, and requests for more than the pages
}

// Open starts a browser for pages, which have names without an extension.
func Open(t *testing.T, pages map[string]string) *Pages {
	t.Helper()
	p := &Pages{t: t, dir: t.TempDir()}
	for name, html := range pages {
		if err := os.WriteFile(p.file(name), []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
		p.names = append(p.names, name)
	}
	p.ctx = Start(t)
	chromedp.ListenTarget(p.ctx, p.hear)
	p.Run(log.Enable(), network.Enable())
	return p
}

func (p *Pages) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		p.problems = append(p.problems, e.Entry.URL+": "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") || !strings.HasSuffix(e.Request.URL, ".html") {
			p.problems = append(p.problems, "a request for "+e.Request.URL)
		}
	}
}

func (p *Pages) file(name string) string { return filepath.Join(p.dir, name+".html") }

// Run runs actions.
func (p *Pages) Run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// Show navigates to a page.
func (p *Pages) Show(name string) {
	p.t.Helper()
	p.Run(chromedp.Navigate("file://" + filepath.ToSlash(p.file(name))))
}

// Value evaluates an expression on the page, and awaits a promise.
func (p *Pages) Value(expression string) string {
	p.t.Helper()
	var v any
	p.Run(chromedp.Evaluate(expression, &v, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	return fmt.Sprint(v)
}

// Scheme selects the theme: light or dark.
func (p *Pages) Scheme(scheme string) {
	p.Run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// Quiet fails the test for errors on the console, and for requests for more than the pages.
func (p *Pages) Quiet() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.t.Error(problem)
	}
}

// Picture writes a screenshot to the directory SKILLPM_PICTURES, if it is set.
func (p *Pages) Picture(name string) {
	dir := os.Getenv("SKILLPM_PICTURES")
	if dir == "" {
		return
	}
	var data []byte
	p.Run(chromedp.FullScreenshot(&data, 100))
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// CheckLayout checks that each page fits a phone and a desktop, and has a light and a dark theme. It also calls check for each page,
// on a desktop with the light theme.
func (p *Pages) CheckLayout(check func(name string)) {
	for _, name := range p.names {
		p.Run(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
		p.Show(name)
		p.open()
		if got := p.Value("document.documentElement.scrollWidth + ' of ' + window.innerWidth"); got != "360 of 360" {
			p.t.Errorf("%s is %s pixels wide on a phone", name, got)
		}
		p.Show(name)
		p.Picture(name + "-phone")
		p.Run(chromedp.EmulateViewport(1200, 800))
		const bright = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0) > 380"
		for scheme, want := range map[string]string{"light": "true", "dark": "false"} {
			p.Scheme(scheme)
			if got := p.Value(bright); got != want {
				p.t.Errorf("%s, %s: bright is %s", name, scheme, got)
			}
			p.Picture(name + "-" + scheme)
		}
		p.Scheme("light")
		if got := p.Value("document.documentElement.scrollWidth <= window.innerWidth"); got != "true" {
			p.t.Errorf("%s does not fit a desktop", name)
		}
		check(name)
	}
	p.Quiet()
}

// open opens all details of a page.
func (p *Pages) open() {
	p.Run(chromedp.Evaluate("document.querySelectorAll('details').forEach(d => d.open = true)", nil))
}

// CheckAccessible runs all rules of axe-core on the pages, with the light and the dark theme.
func (p *Pages) CheckAccessible(axe string) {
	for _, scheme := range []string{"light", "dark"} {
		p.Scheme(scheme)
		for _, name := range p.names {
			p.Show(name)
			p.open()
			p.Run(chromedp.Evaluate(axe, nil))
			var wrong []struct {
				ID, Help string
				Nodes    []struct{ HTML, FailureSummary string }
			}
			if err := json.Unmarshal([]byte(p.Value("axe.run().then(r => JSON.stringify(r.violations))")), &wrong); err != nil {
				p.t.Fatal(err)
			}
			for _, w := range wrong {
				p.t.Errorf("%s, %s: %s: %s: %d times, as in %s\n%s", name, scheme, w.ID, w.Help, len(w.Nodes), w.Nodes[0].HTML,
					w.Nodes[0].FailureSummary)
			}
		}
	}
	p.Quiet()
}

// Axe returns axe-core, which SKILLPM_AXE names. Without it, it skips the test, or fails it if SKILLPM_REQUIRE_NPM is 1.
func Axe(t *testing.T) string {
	t.Helper()
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
	return string(axe)
}
