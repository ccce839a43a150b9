//go:build slow

package site_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/skillpm/skillpm/pkg/internal/testkit/browsertest"
	"github.com/skillpm/skillpm/pkg/publish/internal/site"
)

// pagesOf returns one page of each kind.
var pagesOf = []string{
	"index.html", "index.html?q=deploy", "packs/acme/deploy.html", "packs/globex/ops.html", "packs/umbrella/broken.html", "packs/acme/large.html",
	"packs/acme/large/skill-3.html", "all/2.html", "tags.html", "tags/kubernetes.html", "owners/acme.html", "404.html",
}

// shown is a website in a browser.
type shown struct {
	t    *testing.T
	ctx  context.Context
	url  string // of the catalogue, below a path
	dir  string
	mu   sync.Mutex
	said []string // errors of the console, and requests that lead elsewhere
}

// launch starts a headless browser and a server of the sample.
func launch(t *testing.T) *shown {
	s := &shown{t: t, dir: filepath.Join(t.TempDir(), "catalogue")}
	large := sample()[0]
	large.ID, large.Skills, large.Dependencies = id("acme/large"), nil, nil
	for i := range 30 {
		large.Skills = append(large.Skills, site.Skill{Name: fmt.Sprintf("skill-%d", i), Description: "One of many.", Tree: tree("a")})
	}
	build(t, site.Options{Title: "Acme skills", Registry: "https://skills.example/index"}, append(append(sample(), large), manyPacks(300)...), details).save(t, s.dir)
	server := httptest.NewServer(http.StripPrefix("/some/path/", http.FileServer(http.Dir(s.dir))))
	t.Cleanup(server.Close)
	s.url = server.URL + "/some/path/"
	s.ctx = browsertest.Start(t)
	chromedp.ListenTarget(s.ctx, func(event any) { s.hear(event, server.URL) })
	s.run(log.Enable(), network.Enable())
	return s
}

func (s *shown) hear(event any, server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		s.said = append(s.said, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		s.said = append(s.said, fmt.Sprintf("console %s: %s", e.Type, e.Args[0].Value))
	case *log.EventEntryAdded:
		s.said = append(s.said, e.Entry.URL+": "+e.Entry.Text)
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, server) && !strings.HasPrefix(e.Request.URL, "file:") {
			s.said = append(s.said, "a request to "+e.Request.URL)
		}
	}
}

// run runs browser actions in order.
func (s *shown) run(actions ...chromedp.Action) {
	s.t.Helper()
	if err := chromedp.Run(s.ctx, actions...); err != nil {
		s.t.Fatal(err)
	}
}

// open shows a page.
func (s *shown) open(page string) { s.t.Helper(); s.run(chromedp.Navigate(s.url + page)) }

// value evaluates an expression.
func (s *shown) value(expression string) string {
	s.t.Helper()
	got, err := s.evaluate(expression)
	if err != nil {
		s.t.Fatal(err)
	}
	return got
}

func (s *shown) evaluate(expression string) (string, error) {
	var v any
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	err := chromedp.Run(s.ctx, chromedp.Evaluate(expression, &v, await))
	return fmt.Sprint(v), err
}

// wait waits until an expression has a value. It tries again after an error: an expression fails if the browser leaves
// the page meanwhile.
func (s *shown) wait(expression, want string) {
	s.t.Helper()
	got, err := "", error(nil)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if got, err = s.evaluate(expression); err == nil && got == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s is %q, not %q: %v", expression, got, want, err)
}

// quiet requires that the browser logged no errors and sent no requests to other servers.
func (s *shown) quiet() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, said := range s.said {
		s.t.Error(said)
	}
	s.said = nil
}

// slash is the key, whose character is typed only if no handler prevents it. chromedp.KeyEvent would always type it.
var slash = input.DispatchKeyEvent(input.KeyDown).WithKey("/").WithCode("Slash").WithText("/")

const (
	status  = `document.getElementById("status").textContent`
	focused = `document.activeElement.id || document.activeElement.textContent`
	first   = `document.querySelector("#results a").textContent`
)

func TestBrowserSearch(t *testing.T) {
	s := launch(t)
	s.open("index.html")
	s.wait(focused, s.value("document.body.textContent"))
	s.run(slash)
	s.wait(focused, "q")
	s.run(chromedp.KeyEvent("roll fle")) // the beginnings of words in a skill's description
	s.wait(status, "1 pack for “roll fle”")
	s.wait(first, "globex/ops")
	s.wait("document.getElementById('browse').hidden", "true")
	s.wait("new URLSearchParams(location.search).get('q')", "roll fle")
	s.run(chromedp.KeyEvent(kb.Enter))
	s.wait(focused, "globex/ops")
	s.run(chromedp.KeyEvent(kb.Enter))
	s.wait("document.querySelector('h1')?.textContent", "globex/ops")
	s.wait("document.readyState", "complete")

	// Starts on the page of a pack and uses only the keyboard.
	s.run(slash, chromedp.KeyEvent("kubernetes"), chromedp.KeyEvent(kb.Enter))
	s.wait("document.getElementById('status')?.textContent", "3 packs for “kubernetes”")
	s.run(slash, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	s.wait(focused, s.value("document.querySelectorAll('#results a.name')[1].textContent"))
	s.run(chromedp.KeyEvent(kb.ArrowUp))
	s.wait(focused, "acme/kubectl-basics")
	s.run(chromedp.KeyEvent(kb.Escape))
	s.wait(focused, "q")
	s.wait("document.getElementById('browse').hidden", "false")
	s.run(chromedp.KeyEvent("nosuchthing"))
	s.wait(status, "Nothing fits “nosuchthing”.")
	s.run(chromedp.Evaluate("document.getElementById('q').select()", nil), chromedp.KeyEvent("Number the measuring"))
	s.wait(status, "300 packs for “Number the measuring”")
	s.wait("document.querySelectorAll('#results > li').length", "20")
	s.run(chromedp.Click("button.more"))
	s.wait("document.querySelectorAll('#results > li').length", "40")
	s.quiet()
}

func TestBrowserCopy(t *testing.T) {
	s := launch(t)
	s.run(browser.SetPermission(&browser.PermissionDescriptor{Name: "clipboard-read"}, browser.PermissionSettingGranted))
	s.open("packs/acme/deploy.html")
	s.run(chromedp.Focus(".copy"), chromedp.KeyEvent(kb.Enter))
	s.wait("document.querySelector('.copy').textContent", "Copied")
	s.wait("document.getElementById('said').textContent", "Copied to the clipboard")
	s.wait("navigator.clipboard.readText()", "skillpm install acme/deploy --registry https://skills.example/index")
	s.quiet()
}

func TestBrowserPages(t *testing.T) {
	s := launch(t)
	for _, page := range pagesOf {
		s.run(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile))
		s.open(page)
		if got := s.value("document.documentElement.scrollWidth + ' of ' + window.innerWidth"); got != "360 of 360" {
			t.Errorf("%s is %s pixels wide on a phone: %s", page, got, s.value(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 361).slice(0, 5).map(e => e.tagName + "." + e.className).join(" ")`))
		}
		if s.value("getComputedStyle(document.querySelector('main')).maxWidth") == "none" {
			t.Errorf("%s has no style", page)
		}
	}
	s.open("packs/acme/large.html#skills")
	s.open("packs/acme/deploy.html#skill-rollback-strategies") // in a text that is folded
	s.wait("document.querySelectorAll('details.body')[1].open", "true")
	s.quiet()
}

// TestBrowserInstallFirst checks that the install command comes before everything but the title, and that the
// dependencies fit a phone.
func TestBrowserInstallFirst(t *testing.T) {
	s := launch(t)
	for _, width := range []int64{375, 1280} {
		s.run(chromedp.EmulateViewport(width, 800))
		s.open("packs/acme/deploy.html")
		const above = `[...document.querySelectorAll("main h2, main aside, main table, main .tags")].filter(e => e.id !== "install" && e.getClientRects().length && e.getBoundingClientRect().top < document.querySelector(".install").getBoundingClientRect().top).length`
		if got := s.value(above); got != "0" {
			t.Errorf("%d pixels: %s parts are above the install command", width, got)
		}
		if got := s.value(`document.querySelector(".install").getBoundingClientRect().bottom < 500`); got != "true" {
			t.Errorf("%d pixels: the install command is not at the top", width)
		}
		const wide = `[...document.querySelectorAll("#dependencies ~ *")].flatMap(e => [e, ...e.querySelectorAll("*")]).filter(e => e.getClientRects().length && !e.closest(".unseen") && (e.getBoundingClientRect().right > innerWidth || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline" && !e.closest("svg"))).map(e => e.tagName + "." + e.className).join(" ")`
		if got := s.value(wide); width == 375 && got != "" {
			t.Errorf("%d pixels: the dependencies do not fit: %s", width, got)
		}
		shown := s.value(`["graph", "tree"].filter(c => document.querySelector("." + c).getClientRects().length).join(" ")`)
		if want := map[int64]string{375: "tree", 1280: "graph"}[width]; shown != want {
			t.Errorf("%d pixels: shows the %s, want the %s", width, shown, want)
		}
	}
	s.quiet()
}

func TestBrowserDark(t *testing.T) {
	s := launch(t)
	s.open("packs/acme/deploy.html")
	const brightness = "getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).reduce((a, b) => a + +b, 0) > 380"
	s.wait(brightness, "true")
	s.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}))
	s.wait(brightness, "false")
	s.quiet()
}

func TestBrowserWithoutScript(t *testing.T) {
	s := launch(t)
	s.run(emulation.SetScriptExecutionDisabled(true))
	s.open("index.html")
	s.wait("getComputedStyle(document.querySelector('form.search')).display", "none")
	s.wait("document.querySelectorAll('#all-heading ~ .packs > li').length", "250")
	s.run(chromedp.Click(`a[rel=next]`))
	s.wait("document.querySelector('h1')?.textContent", "All packs")
	s.open("packs/acme/deploy.html")
	s.wait("getComputedStyle(document.querySelector('.copy')).display", "none")
	s.run(chromedp.Click("details.body:not([open]) summary"))
	s.wait("document.querySelectorAll('details.body[open]').length", "2")
	s.quiet()
}

func TestBrowserFile(t *testing.T) {
	s := launch(t)
	s.url = "file://" + filepath.ToSlash(s.dir) + "/"
	s.open("index.html")
	s.wait("getComputedStyle(document.querySelector('main')).maxWidth !== 'none'", "true")
	s.run(chromedp.Click("#all-heading ~ .packs a.name"))
	s.wait("document.querySelector('h1')?.textContent", "acme/deploy")
	s.quiet()
}

// TestBrowserAccessible runs all rules of axe-core on each kind of page, with the light and the dark theme.
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
		s.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, page := range pagesOf {
			s.open(page)
			if strings.Contains(page, "?q=") {
				s.wait("document.getElementById('found').hidden", "false")
			}
			s.run(chromedp.Evaluate(string(axe), nil))
			var wrong []struct {
				ID, Help string
				Nodes    []struct{ HTML, FailureSummary string }
			}
			if err := json.Unmarshal([]byte(s.value("axe.run().then(r => JSON.stringify(r.violations))")), &wrong); err != nil {
				t.Fatal(err)
			}
			for _, w := range wrong {
				t.Errorf("%s, %s: %s: %s: %d times, as in %s\n%s", page, scheme, w.ID, w.Help, len(w.Nodes), w.Nodes[0].HTML, w.Nodes[0].FailureSummary)
			}
		}
	}
	s.quiet()
}
