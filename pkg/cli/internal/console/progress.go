package console

import (
	"fmt"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/skillpm/skillpm/pkg/skillpm"
)

// progress returns the display for long work: a line with the current step and a bar for each active pack, on a
// terminal's standard error, erased at the end. It shows nothing without a terminal, in CI, or with --quiet or --json.
func (a *App) progress() func(skillpm.Event) {
	if a.Quiet || a.JSON || a.Getenv("CI") != "" || a.Getenv("TERM") == "dumb" || !Terminal(a.Stderr) {
		return func(skillpm.Event) {}
	}
	if a.Meter == nil {
		a.Meter = &meter{app: a}
	}
	return a.Meter.show
}

// meter draws progress. It is safe for concurrent use.
type meter struct {
	app  *App
	mu   sync.Mutex
	last time.Time           // when the line was drawn
	over bool                // drawing has ended
	line bool                // a line is visible
	bars *mpb.Progress       // nil until the first transfer
	pack map[string]*mpb.Bar // by pack
}

func (m *meter) show(e skillpm.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.over:
	case e.Done:
		m.erase()
	case e.Pack != "":
		m.transfer(e)
	case m.bars == nil:
		m.say(e.Text)
	}
}

// End erases the display permanently.
func (m *meter) End() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	m.over = true
}

// say redraws the line, at a limited rate.
func (m *meter) say(text string) {
	now := m.app.Now()
	if now.Sub(m.last) < 50*time.Millisecond {
		return
	}
	m.last, m.line = now, true
	fmt.Fprintf(m.app.Stderr, "\r\x1b[K%s", Printable(text))
}

// transfer updates the bar of a pack.
func (m *meter) transfer(e skillpm.Event) {
	bar, ok := m.pack[e.Pack]
	switch {
	case e.Finished && !ok: // it finished before it was drawn
		return
	case !ok:
		bar = m.start(e.Pack)
	case e.Finished:
		bar.SetTotal(-1, true)
		return
	}
	if e.Size > 0 {
		bar.SetTotal(e.Size, false)
	}
	bar.SetCurrent(e.Received)
}

// start adds a bar.
func (m *meter) start(pack string) *mpb.Bar {
	if m.bars == nil {
		m.clearLine()
		m.bars = mpb.New(mpb.WithOutput(m.app.Stderr), mpb.WithWidth(40), mpb.WithRefreshRate(100*time.Millisecond))
		m.pack = map[string]*mpb.Bar{}
	}
	bar := m.bars.New(0, mpb.BarStyle().Lbound(" ").Rbound(" ").Filler("━").Tip("━").Padding("─"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(Printable(pack), decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")),
	)
	m.pack[pack] = bar
	return bar
}

// erase erases the display.
func (m *meter) erase() {
	m.clearLine()
	if m.bars == nil {
		return
	}
	for _, bar := range m.pack {
		bar.Abort(true)
	}
	m.bars.Wait()
	m.bars, m.pack = nil, nil
}

func (m *meter) clearLine() {
	if m.line {
		fmt.Fprint(m.app.Stderr, "\r\x1b[K")
		m.line = false
	}
}
