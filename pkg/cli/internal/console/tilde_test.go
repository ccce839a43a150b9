package console

import (
	"bytes"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// TestWithTilde checks which paths start with ~ in texts for users.
func TestWithTilde(t *testing.T) {
	const home = "/home/ada"
	for text, want := range map[string]string{
		"/home/ada/.config/x.yaml":                       "~/.config/x.yaml",
		"cannot read /home/ada/a: in /home/ada.":         "cannot read ~/a: in ~.",
		"run \"skillpm trust /home/ada/shop\"":           "run \"skillpm trust ~/shop\"",
		"policies (/home/ada/x), [/home/ada]":            "policies (~/x), [~]",
		"\x1b[36m/home/ada/x\x1b[0m":                     "\x1b[36m~/x\x1b[0m",
		"/home/ada/x /home/ada/y":                        "~/x ~/y",
		"/home/adam/x, /home/ada.old/x, /home/ada-old":   "/home/adam/x, /home/ada.old/x, /home/ada-old",
		"file:///home/ada/x /srv/home/ada/x":             "file:///home/ada/x /srv/home/ada/x",
		"ssh://git@host/home/ada/x host:/home/ada/x":     "ssh://git@host/home/ada/x host:/home/ada/x",
		"--config=/home/ada/x XDG_CONFIG_HOME=/home/ada": "--config=/home/ada/x XDG_CONFIG_HOME=/home/ada",
	} {
		if got := WithTilde(home, text); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	for _, none := range []string{"", "/"} {
		if got := WithTilde(none, "/home/ada/x"); got != "/home/ada/x" {
			t.Errorf("home %q: %s", none, got)
		}
	}
}

// TestTilde checks that messages, tables, and texts abbreviate the home directory, and other output does not.
func TestTilde(t *testing.T) {
	var out, errs bytes.Buffer
	o := &Output{Writer: &out, Home: "/home/ada"}
	a := &App{Environment: environ.Environment{
		Stdout: o, Stderr: &errs, Getenv: func(string) string { return "" }, Paths: scope.Paths{Home: "/home/ada"},
	}}
	a.Warn("cannot read %s", "/home/ada/x")
	if got := errs.String(); got != "warning: cannot read ~/x\n" {
		t.Errorf("warning: %q", got)
	}
	if err := Table(o, [][]string{{"/home/ada/x", "a"}, {"b", "c"}}); err != nil || out.String() != "~/x  a\nb    c\n" {
		t.Errorf("table: %v, %q", err, out.String())
	}
	out.Reset()
	_, _ = o.Write([]byte("/home/ada/x\n"))
	o.Text = true
	_, _ = o.Write([]byte("/home/ada/x\n"))
	a.Verbatim("/home/ada/x\n")
	if got := strings.Fields(out.String()); strings.Join(got, " ") != "/home/ada/x ~/x /home/ada/x" {
		t.Errorf("other output, text, verbatim: %q", got)
	}
}
