//go:build slow

// Package browsertest starts a browser for tests of pages.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Start starts a headless browser that ends with the test, and returns the context that [chromedp.Run] takes. Without a
// browser it skips the test, or fails it if SKILLPM_REQUIRE_CHROMIUM is 1.
func Start(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(find(t)), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile(t)),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.WSURLReadTimeout(time.Minute))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)
	return ctx
}

func find(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if program, err := exec.LookPath(name); err == nil {
			return program
		}
	}
	if os.Getenv("SKILLPM_REQUIRE_CHROMIUM") == "1" {
		t.Fatal("there is no chromium")
	}
	t.Skip("there is no chromium")
	return ""
}

// profile returns a directory for the browser's own files. The browser's child processes outlive it for a moment and
// still write there, which fails the removal of a t.TempDir.
func profile(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "browser") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Error(err)
	})
	return dir
}
