package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// meter shows progress. It is safe for concurrent use.
type meter struct {
	app   *App
	draws bool                                           // on a terminal; otherwise it prints lines
	every func(time.Duration) (<-chan time.Time, func()) // a ticker and the function that stops it
	stop  chan struct{}

	mu        sync.Mutex
	running   bool                // the display is updated
	over      bool                // showing has ended
	line      bool                // a status line is visible
	bars      *mpb.Progress       // nil until the first transfer
	pack      map[string]*mpb.Bar // by pack
	step      string              // what is being done, or ""
	narrated  map[string]bool     // steps that --verbose has printed
	transfers map[string]transfer // by pack
	waits     []wait              // current ones, oldest first
	hosts     []*host             // contacted servers, for --verbose

	busySince time.Time // the time since when something is being done without a pause; zero if nothing is
	notices   int       // lines about waiting since then
	retry     string    // the last line about a retry
	retryEnds time.Time // when that retry happens
}

// transfer is a pack that is being fetched.
type transfer struct {
	text           string
	began          time.Time
	received, size int64
}

// wait is a current wait.
type wait struct {
	*activity.Wait
	began time.Time
}

// host is what was requested from a server.
type host struct {
	name           string
	requests       int
	received, sent int64
	active         int       // current requests
	since          time.Time // when active became 1
	busy           time.Duration
}

func newMeter(a *App, draws bool) *meter {
	every := func(d time.Duration) (<-chan time.Time, func()) {
		t := time.NewTicker(d)
		return t.C, t.Stop
	}
	return &meter{app: a, draws: draws, every: every, stop: make(chan struct{}), narrated: map[string]bool{}}
}

// drawInterval is the time between two updates of the status line, and lineInterval between two checks whether a line
// is due.
const (
	drawInterval = 100 * time.Millisecond
	lineInterval = 200 * time.Millisecond
)

// run starts to update the display, until End.
func (m *meter) run() {
	if m.running || m.over {
		return
	}
	m.running = true
	interval := lineInterval
	if m.draws {
		interval = drawInterval
	}
	ticks, stop := m.every(interval)
	bug.Go(func() {
		defer stop()
		for {
			select {
			case <-m.stop:
				return
			case <-ticks:
				m.tick()
			}
		}
	})
}

// End erases the display permanently. With --verbose, it reports which servers were contacted.
func (m *meter) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.erase()
	m.over = true
	close(m.stop)
	if m.app.Verbose == 0 {
		return
	}
	for _, h := range m.hosts {
		if h.active > 0 {
			h.busy += m.app.Now().Sub(h.since)
		}
		m.remark(h.String())
	}
}

// String summarizes the requests, for example: ghcr.io: 4 requests, received 1.2 MiB in 340ms.
func (h *host) String() string {
	text := fmt.Sprintf("%s: %s, received %s", h.name, textx.Count(h.requests, "request"), BytesText(h.received))
	if h.sent > 0 {
		text += ", sent " + BytesText(h.sent)
	}
	return text + " in " + h.busy.Round(time.Millisecond).String()
}

// observe handles an event.
func (m *meter) observe(e activity.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	m.run()
	now := m.app.Now()
	switch e.Kind {
	case activity.Began:
		m.waits = append(m.waits, wait{e.Wait, now})
		if e.Wait.Request != "" {
			m.host(e.Wait.Source).begin(now)
		}
	case activity.Answered:
		i := m.index(e.Wait)
		if m.app.Verbose > 1 && i >= 0 {
			took := now.Sub(m.waits[i].began).Round(time.Millisecond)
			m.remark(fmt.Sprintf("%s: %s in %s", e.Wait.Request, e.Text, took))
		}
	case activity.Ended:
		m.end(e.Wait, now)
	case activity.Retrying:
		m.retrying(e, now)
	}
}

func (m *meter) index(w *activity.Wait) int {
	return slices.IndexFunc(m.waits, func(one wait) bool { return one.Wait == w })
}

// end removes a wait.
func (m *meter) end(w *activity.Wait, now time.Time) {
	if i := m.index(w); i >= 0 {
		m.waits = slices.Delete(m.waits, i, i+1)
	}
	if w.Request != "" {
		m.host(w.Source).end(w, now)
	}
	if len(m.waits) == 0 && m.step == "" {
		m.clearLine()
	}
}

func (m *meter) host(name string) *host {
	i := slices.IndexFunc(m.hosts, func(h *host) bool { return h.name == name })
	if i < 0 {
		i = len(m.hosts)
		m.hosts = append(m.hosts, &host{name: name})
	}
	return m.hosts[i]
}

func (h *host) begin(now time.Time) {
	if h.requests, h.active = h.requests+1, h.active+1; h.active == 1 {
		h.since = now
	}
}

func (h *host) end(w *activity.Wait, now time.Time) {
	h.received += w.Received.Load()
	h.sent += w.Sent.Load()
	if h.active--; h.active == 0 {
		h.busy += now.Sub(h.since)
	}
}

// quietRetries is the time after a retry in which another one for the same reason is not reported.
const quietRetries = 10 * time.Second

// retrying reports a retry. Retries for one reason are reported once if they are parallel or follow one another, such
// as those of a registry that allows a few requests in a second.
func (m *meter) retrying(e activity.Event, now time.Time) {
	again := e.Text == m.retry && now.Before(m.retryEnds.Add(quietRetries))
	m.retry, m.retryEnds = e.Text, now.Add(e.Delay)
	if again {
		return
	}
	m.remark(e.Text + ", retrying in " + secondsText(e.Delay))
}

// secondsText formats a delay as "3 s" or "0.3 s".
func secondsText(d time.Duration) string {
	text := fmt.Sprintf("%.1f", d.Seconds())
	return strings.TrimSuffix(text, ".0") + " s"
}

// tick updates the display: it draws the status line or, if nothing was printed for a while, prints a line.
func (m *meter) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return
	}
	now := m.app.Now()
	text, since := m.current(now)
	switch {
	case text == "":
		m.busySince, m.notices = time.Time{}, 0
		m.clearLine()
		return
	case m.busySince.IsZero():
		m.busySince = since
	}
	if m.draws {
		if m.bars == nil {
			m.draw(text)
		}
		return
	}
	if now.Sub(m.busySince) >= noticeAfter(m.notices) {
		m.notices++
		m.remark(text)
	}
}

// noticeAfter returns how long work takes before the nth line reports it without a terminal: a log shows within 2 s
// what a command waits for, and later only that it still does.
func noticeAfter(n int) time.Duration {
	first := [...]time.Duration{2 * time.Second, 10 * time.Second, 30 * time.Second}
	if n < len(first) {
		return first[n]
	}
	return time.Duration(n-len(first)+1) * time.Minute
}

// stuck is the time after which a wait matters more than the step that it belongs to.
const stuck = time.Second

// current describes what is being done, and since when.
func (m *meter) current(now time.Time) (text string, since time.Time) {
	since = now
	if len(m.waits) > 0 {
		oldest := m.waits[0]
		since = oldest.began
		if oldest.Source == "" || m.step == "" && len(m.transfers) == 0 || now.Sub(since) >= stuck {
			return m.waitText(oldest, now), since
		}
	}
	if len(m.transfers) > 0 {
		t := m.transfers[slices.Min(slices.Collect(maps.Keys(m.transfers)))]
		return t.text + m.amount(t.received, t.size), t.began
	}
	if m.step == "" && len(m.waits) > 0 {
		return m.waitText(m.waits[0], now), since
	}
	return m.step, since
}

// waitText describes a wait, for example: waiting for ghcr.io (12 s).
func (m *meter) waitText(w wait, now time.Time) string {
	received, sent, size := w.Received.Load(), w.Sent.Load(), w.Size.Load()
	switch {
	case w.Items != "" && size > 0:
		text := fmt.Sprintf("%s %s %d/%d", w.Items, m.bar(received, size), received, size)
		if w.Detail != nil {
			text += ", " + w.Detail()
		}
		return text
	case w.Items != "" && received == 0:
		return w.Items
	case w.Items != "":
		return fmt.Sprintf("%s: %d", w.Items, received)
	case received > 0:
		return "receiving from " + w.Source + m.amount(received, size)
	case sent > 0:
		return "sending to " + w.Source + m.amount(sent, 0)
	}
	text := "waiting for " + w.Source
	if seconds := int(now.Sub(w.began).Seconds()); seconds > 0 {
		text += fmt.Sprintf(" (%d s)", seconds)
	}
	return text
}

// amount describes received bytes, with a bar on a terminal if the size is known.
func (m *meter) amount(received, size int64) string {
	switch {
	case received == 0:
		return ""
	case size <= 0:
		return ": " + BytesText(received)
	case !m.draws:
		return fmt.Sprintf(": %s of %s", BytesText(received), BytesText(size))
	}
	return " " + m.bar(received, size) + " " + transferText(received, size)
}
