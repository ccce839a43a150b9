package console

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/activity"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// display is a meter with the test's clock and standard error.
type display struct {
	*meter
	out bytes.Buffer
	now time.Time
}

func newDisplay(t *testing.T, draws bool, verbose int) *display {
	t.Helper()
	d := &display{now: time.Unix(1000, 0)}
	a := &App{Verbose: verbose, Environment: environ.Environment{
		Stderr: &d.out, Now: func() time.Time { return d.now }, Getenv: func(string) string { return "" },
	}}
	d.meter = newMeter(a, draws)
	d.every = func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} } // the test calls tick
	t.Cleanup(d.End)
	return d
}

// after moves the clock and updates the display.
func (d *display) after(wait time.Duration) {
	d.now = d.now.Add(wait)
	d.tick()
}

// printed returns what was printed since the last call.
func (d *display) printed() string {
	defer d.out.Reset()
	return d.out.String()
}

func (d *display) begin(t *testing.T, w *activity.Wait) *activity.Wait {
	t.Helper()
	return activity.Begin(activity.With(t.Context(), d.observe), w)
}

// TestMeterLines checks what a log shows during a long wait: nothing for 2 s, then a line, then more lines at growing
// intervals.
func TestMeterLines(t *testing.T) {
	d := newDisplay(t, false, 0)
	w := d.begin(t, &activity.Wait{Source: "ghcr.io", Request: "GET https://ghcr.io/v2/"})
	for _, step := range []struct {
		wait time.Duration
		want string
	}{
		{0, ""},
		{1900 * time.Millisecond, ""},
		{100 * time.Millisecond, "skillpm: waiting for ghcr.io (2 s)\n"},
		{5 * time.Second, ""},
		{3 * time.Second, "skillpm: waiting for ghcr.io (10 s)\n"},
		{20 * time.Second, "skillpm: waiting for ghcr.io (30 s)\n"},
		{20 * time.Second, ""},
		{10 * time.Second, "skillpm: waiting for ghcr.io (60 s)\n"},
	} {
		d.after(step.wait)
		if got := d.printed(); got != step.want {
			t.Errorf("after %s more: %q, want %q", step.wait, got, step.want)
		}
	}
	w.Expect(4 << 20)
	w.Receive(1 << 20)
	d.after(time.Minute)
	if got, want := d.printed(), "skillpm: receiving from ghcr.io: 1.0 MiB of 4.0 MiB\n"; got != want {
		t.Errorf("with data: %q, want %q", got, want)
	}
	w.End()
	d.after(time.Hour)
	if got := d.printed(); got != "" {
		t.Errorf("after the end: %q", got)
	}
}

// TestMeterManyShortWaits checks that many short requests in a row are not silent.
func TestMeterManyShortWaits(t *testing.T) {
	d := newDisplay(t, false, 0)
	d.show(skillpm.Event{Text: "reading the index"})
	for range 10 {
		w := d.begin(t, &activity.Wait{Source: "ghcr.io", Request: "GET https://ghcr.io/v2/"})
		d.after(300 * time.Millisecond)
		w.End()
	}
	if got, want := d.printed(), "skillpm: reading the index\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestMeterDraws checks the status line of a terminal: the step, the source if it is slow, bars, and no leftover
// characters.
func TestMeterDraws(t *testing.T) {
	d := newDisplay(t, true, 0)
	d.show(skillpm.Event{Text: "reading oci://ghcr.io/acme/deploy"})
	w := d.begin(t, &activity.Wait{Source: "ghcr.io", Request: "GET https://ghcr.io/v2/"})
	const clear = "\r\x1b[K"
	for _, step := range []struct {
		received int
		want     string
	}{
		{0, clear + "reading oci://ghcr.io/acme/deploy"},
		{0, clear + "waiting for ghcr.io (1 s)"},
		{1 << 20, clear + "receiving from ghcr.io ━━━━━━━━━━────────── 1.0 MiB / 2.0 MiB"},
	} {
		w.Expect(2 << 20)
		w.Receive(step.received)
		d.after(600 * time.Millisecond)
		if got := d.printed(); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
	activity.Retry(activity.With(t.Context(), d.observe), "rate-limited by ghcr.io", 3*time.Second)
	activity.Retry(activity.With(t.Context(), d.observe), "rate-limited by ghcr.io", 3*time.Second)
	if got, want := d.printed(), clear+"skillpm: rate-limited by ghcr.io, retrying in 3 s\n"; got != want {
		t.Errorf("retries: %q, want %q", got, want)
	}
	d.after(0)
	d.printed()
	d.after(9 * time.Second) // the registry limits the next requests too
	d.printed()
	activity.Retry(activity.With(t.Context(), d.observe), "rate-limited by ghcr.io", time.Second)
	if got := d.printed(); got != "" {
		t.Errorf("a retry after others: %q", got)
	}
	w.End()
	d.show(skillpm.Event{Done: true})
	if got := d.printed(); got != clear {
		t.Errorf("at the end: %q, want %q", got, clear)
	}
}

// TestMessagesReplaceDisplay proves that a warning never continues the status line, and that a warning after the last
// bar is still printed.
func TestMessagesReplaceDisplay(t *testing.T) {
	d := newDisplay(t, true, 0)
	d.app.meter.Store(d.meter)
	d.show(skillpm.Event{Text: "resolving"})
	d.after(0)
	d.app.Warn("acme/deploy is deprecated")
	d.after(0)
	const clear = "\r\x1b[K"
	if got, want := d.printed(), clear+"resolving"+clear+"warning: acme/deploy is deprecated\n"+clear+"resolving"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d.show(skillpm.Event{Text: "fetching acme/deploy", Pack: "acme/deploy", Received: 1, Size: 2})
	d.show(skillpm.Event{Pack: "acme/deploy", Finished: true})
	d.app.Remark("done")
	if got := d.printed(); !strings.HasSuffix(got, "skillpm: done\n") || d.bars != nil {
		t.Errorf("after a bar: %q", got)
	}
}

// TestBarNeedsBytes proves that a pack has a bar only if bytes are received, which a local directory does not report,
// and that the bar's sizes are written as everywhere else.
func TestBarNeedsBytes(t *testing.T) {
	d := newDisplay(t, true, 0)
	d.show(skillpm.Event{Text: "fetching acme/deploy 1.0.0 from ./deploy", Pack: "acme/deploy 1.0.0"})
	d.after(0)
	if got := d.printed(); d.bars != nil || got != "\r\x1b[Kfetching acme/deploy 1.0.0 from ./deploy" {
		t.Errorf("without bytes: %q", got)
	}
	d.show(skillpm.Event{Pack: "acme/deploy 1.0.0", Received: 1, Size: 2})
	if d.bars == nil {
		t.Error("no bar with bytes")
	}
	for _, test := range []struct {
		received, size int64
		want           string
	}{{100, 0, "100 B"}, {3 << 19, 2 << 20, "1.5 MiB / 2.0 MiB"}} {
		if got := transferText(test.received, test.size); got != test.want {
			t.Errorf("%d of %d: %q, want %q", test.received, test.size, got, test.want)
		}
	}
}

// TestMeterItems checks the progress display of an operation on many items.
func TestMeterItems(t *testing.T) {
	d := newDisplay(t, true, 0)
	w := d.begin(t, &activity.Wait{Items: "hashing skills"})
	w.Receive(340)
	d.after(0)
	w.Expect(680)
	d.after(0)
	w.Detail = func() string { return "2 failed" }
	d.after(0)
	got := strings.Split(strings.TrimPrefix(d.printed(), "\r\x1b[K"), "\r\x1b[K")
	bar := "hashing skills ━━━━━━━━━━────────── 340/680"
	if !slices.Equal(got, []string{"hashing skills: 340", bar, bar + ", 2 failed"}) {
		t.Errorf("%q", got)
	}
}

// TestMeterVerbose checks -v: what was fetched, from where, and how long it took; and -vv: every request.
func TestMeterVerbose(t *testing.T) {
	for verbose, want := range map[int]string{
		1: "skillpm: fetching acme/deploy 1.2.0 from oci://ghcr.io/acme/deploy\n" +
			"skillpm: fetched acme/deploy 1.2.0 (2.0 KiB in 30ms)\n" +
			"skillpm: ghcr.io: 1 request, received 2.0 KiB in 30ms\n",
		2: "skillpm: fetching acme/deploy 1.2.0 from oci://ghcr.io/acme/deploy\n" +
			"skillpm: GET https://ghcr.io/v2/: 200 OK in 30ms\n" +
			"skillpm: fetched acme/deploy 1.2.0 (2.0 KiB in 30ms)\n" +
			"skillpm: ghcr.io: 1 request, received 2.0 KiB in 30ms\n",
	} {
		d := newDisplay(t, false, verbose)
		e := skillpm.Event{Text: "fetching acme/deploy 1.2.0 from oci://ghcr.io/acme/deploy", Pack: "acme/deploy 1.2.0"}
		d.show(e)
		w := d.begin(t, &activity.Wait{Source: "ghcr.io", Request: "GET https://ghcr.io/v2/"})
		d.now = d.now.Add(30 * time.Millisecond)
		w.Answer("200 OK")
		w.Receive(2048)
		e.Received = 2048
		d.show(e)
		w.End()
		e.Finished = true
		d.show(e)
		d.End()
		if got := d.printed(); got != want {
			t.Errorf("verbose %d:\n%s\nwant:\n%s", verbose, got, want)
		}
	}
}

// TestOutputASCII checks that symbols become ASCII on terminals that need it.
func TestOutputASCII(t *testing.T) {
	for ascii, want := range map[bool]string{false: "✓ a → b…\n", true: "* a > b~\n"} {
		var b bytes.Buffer
		o := &Output{Writer: &b, ASCII: ascii}
		if n, err := o.Write([]byte("✓ a → b…\n")); n != len("✓ a → b…\n") || err != nil || b.String() != want {
			t.Errorf("ASCII %v: %q, %d, %v, want %q", ascii, b.String(), n, err, want)
		}
	}
}

// TestASCII checks when bars are drawn with ASCII.
func TestASCII(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "en_US.UTF-8"}, false},
		{map[string]string{"LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "dumb"}, true},
	} {
		a := &App{Environment: environ.Environment{Getenv: func(name string) string { return test.env[name] }}}
		if got := a.ASCII(); got != test.want {
			t.Errorf("%v: %v, want %v", test.env, got, test.want)
		}
	}
}
