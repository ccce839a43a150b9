package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// progress returns what shows long work: one line on a terminal's standard error that is overwritten and at last
// erased; nothing where there is no terminal, in CI, or with --quiet or --json.
func (a *app) progress() func(skillpm.Event) {
	if a.quiet || a.json || a.Getenv("CI") != "" || a.Getenv("TERM") == "dumb" || !terminal(a.Stderr) {
		return func(skillpm.Event) {}
	}
	var mu sync.Mutex
	var last time.Time
	return func(e skillpm.Event) {
		mu.Lock()
		defer mu.Unlock()
		now := a.Now()
		if !e.Done && now.Sub(last) < 50*time.Millisecond {
			return
		}
		last = now
		if e.Done {
			fmt.Fprint(a.Stderr, "\r\x1b[K")
			return
		}
		fmt.Fprintf(a.Stderr, "\r\x1b[K%s", printable(e.Text))
	}
}
