package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// Watched returns a context in which the display shows every wait: for servers, other processes, and many items.
func (a *App) Watched(ctx context.Context) context.Context {
	return activity.With(ctx, func(e activity.Event) {
		if m := a.display(); m != nil {
			m.observe(e)
		}
	})
}

// Progress returns the display for the steps of long work.
func (a *App) Progress() func(skillpm.Event) {
	m := a.display()
	if m == nil {
		return func(skillpm.Event) {}
	}
	return m.show
}

// display returns the progress display: on a terminal, a status line and a bar for each pack that is fetched, erased
// at the end; otherwise, in CI, and with --verbose or --json, lines on standard error. It is nil with --quiet.
func (a *App) display() *meter {
	if a.Quiet {
		return nil
	}
	a.meterOnce.Do(func() {
		draws := Terminal(a.Stderr) && a.Verbose == 0 && !a.JSON && a.Getenv("CI") == "" && a.Getenv("TERM") != "dumb"
		a.meter.Store(newMeter(a, draws))
	})
	return a.meter.Load()
}

// EndProgress erases the progress display permanently.
func (a *App) EndProgress() {
	if m := a.meter.Load(); m != nil {
		m.End()
	}
}

// printLine prints a text on standard error, in place of the progress display.
func (a *App) printLine(text string) {
	text = a.Secrets.Redact(text)
	m := a.meter.Load()
	if m == nil {
		fmt.Fprintln(a.Messages(), text)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.println(text)
}

// bar returns the characters of a progress bar: the done part and the rest.
func (a *App) bar() (done, rest string) {
	if a.ASCII() {
		return "=", "-"
	}
	return "━", "─"
}

// show shows a step.
func (m *meter) show(e skillpm.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.run()
	switch {
	case m.over:
	case e.Done:
		m.step, m.transfers = "", nil
		m.erase()
	case e.Pack != "":
		m.narrateTransfer(e)
		if m.draws {
			m.transfer(e)
		}
	case e.Text != m.step:
		m.step = e.Text
		if m.app.Verbose > 0 && !m.narrated[e.Text] {
			m.narrated[e.Text] = true
			m.remark(e.Text)
		}
	}
}

// narrateTransfer records the progress of a pack and, with --verbose, prints its start and its end.
func (m *meter) narrateTransfer(e skillpm.Event) {
	t, known := m.transfers[e.Pack]
	switch {
	case e.Finished && !known:
	case e.Finished:
		delete(m.transfers, e.Pack)
		if m.app.Verbose > 0 {
			took := m.app.Now().Sub(t.began).Round(time.Millisecond).String()
			if t.received > 0 {
				took = BytesText(t.received) + " in " + took
			}
			m.remark("fetched " + e.Pack + " (" + took + ")")
		}
	case !known:
		if m.transfers == nil {
			m.transfers = map[string]transfer{}
		}
		m.transfers[e.Pack] = transfer{text: e.Text, began: m.app.Now()}
		if m.app.Verbose > 0 {
			m.remark(e.Text)
		}
	default:
		t.received, t.size = max(t.received, e.Received), max(t.size, e.Size)
		m.transfers[e.Pack] = t
	}
}

// transfer updates the bar of a pack. A pack that reports no bytes, such as a directory, has no bar.
func (m *meter) transfer(e skillpm.Event) {
	bar, ok := m.pack[e.Pack]
	switch {
	case e.Finished && !ok: // it finished before it was drawn
		return
	case !ok && e.Received == 0 && e.Size == 0:
		return
	case !ok:
		bar = m.startBar(e.Pack)
	case e.Finished:
		bar.SetTotal(-1, true)
		return
	}
	if e.Size > 0 {
		bar.SetTotal(e.Size, false)
	}
	bar.SetCurrent(e.Received)
}

// startBar adds a bar.
func (m *meter) startBar(pack string) *mpb.Bar {
	if m.bars == nil {
		m.clearLine()
		m.bars = mpb.New(mpb.WithOutput(m.app.Stderr), mpb.WithWidth(barWidth), mpb.WithRefreshRate(drawInterval))
		m.pack = map[string]*mpb.Bar{}
	}
	done, rest := m.app.bar()
	bar := m.bars.New(0, mpb.BarStyle().Lbound(" ").Rbound(" ").Filler(done).Tip(done).Padding(rest),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(Printable(pack), decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string { return transferText(s.Current, s.Total) })),
	)
	m.pack[pack] = bar
	return bar
}

// transferText describes how much of a pack was received.
func transferText(received, size int64) string {
	if size <= 0 {
		return BytesText(received)
	}
	return BytesText(received) + " / " + BytesText(size)
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

// draw redraws the status line.
func (m *meter) draw(text string) {
	m.line = true
	fmt.Fprintf(m.app.Stderr, "\r\x1b[K%s", Fitted(Flat(text), max(0, TerminalWidth(m.app.Stderr)-1)))
}

// remark prints a line about the progress that stays.
func (m *meter) remark(text string) { m.println(remark(text)) }

// println prints a text that stays. The next update draws the display again below it.
func (m *meter) println(text string) {
	text = m.app.Secrets.Redact(text)
	m.erase()
	fmt.Fprintln(m.app.Messages(), text)
}

// barWidth is the width of a bar in columns.
const barWidth = 40

// bar draws a bar for a part of a whole.
func (m *meter) bar(part, whole int64) string {
	done, rest := m.app.bar()
	n := int(min(part, whole) * barWidth / 2 / max(whole, 1))
	return strings.Repeat(done, n) + strings.Repeat(rest, barWidth/2-n)
}
