//go:build slow

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
	"github.com/skillpm/skillpm/pkg/internal/scope"
)

// at runs the program in this process, with its own clock.
func (m *machine) at(now time.Time, args ...string) ended {
	m.tb.Helper()
	var out, stderr bytes.Buffer
	sys := environ.Environment{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Dir: m.project, Paths: scope.Paths{Home: m.home}, OS: runtime.GOOS, Version: "0.1.0",
		Now: func() time.Time { return now },
		Getenv: func(name string) string {
			return map[string]string{"NO_COLOR": "1", "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"}[name]
		},
	}
	code := cli.Execute(m.tb.Context(), sys, args)
	return ended{args, int(code), out.String(), stderr.String()}
}

// setTimes gives every file and directory of the machine a time.
func (m *machine) setTimes(when time.Time) {
	m.tb.Helper()
	err := filepath.WalkDir(m.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink == 0 {
			err = os.Chtimes(path, when, when)
		}
		return err
	})
	if err != nil {
		m.tb.Fatal(err)
	}
}

func year(n int) time.Time { return time.Date(n, 6, 1, 12, 0, 0, 0, time.UTC) }

// TestFaultClock sets the clock and the times of all files to 1970, to today, and to 2100, in each order: the result is
// the same, and edits are found even if a file's time is unchanged.
func TestFaultClock(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	clocks := []time.Time{time.Unix(0, 0), year(2026), year(2100)}
	for _, first := range clocks {
		for _, then := range clocks {
			for _, files := range []time.Time{{}, time.Unix(0, 0), year(2100)} {
				t.Run(fmt.Sprint(first.Year(), " then ", then.Year(), " files ", files.Year()), func(t *testing.T) {
					t.Parallel()
					m := newMachine(t, w)
					m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
					run := func(now time.Time, args ...string) {
						t.Helper()
						if e := m.at(now, args...); e.code != 0 {
							t.Error(e)
						}
					}
					run(first, "install")
					before := m.tree()
					if !files.IsZero() {
						m.setTimes(files)
					}
					run(then, "install")
					same(t, "nothing to do", m.tree(), before)
					run(then, "install", "--frozen")
					run(then, "verify")
					run(then, "cache", "gc")
					edited := filepath.Join(m.project, ".skillpm", "plugins", "acme", "web", "deploy", "SKILL.md")
					info, err := os.Stat(edited)
					if err == nil {
						err = flip(edited)
					}
					if err != nil {
						t.Fatal(err)
					}
					if now, err := os.Stat(edited); err != nil || !now.ModTime().Equal(info.ModTime()) || now.Size() != info.Size() {
						t.Fatalf("the edit shows: %v, %v", now, err)
					}
					m.check(m.at(then, "verify"), 6, []string{"1 difference"})
					m.check(m.at(then, w.update()...), 5, []string{"deploy"})
					if err := flip(edited); err != nil {
						t.Fatal(err)
					}
					run(then, w.update()...)
					same(t, "updated", m.tree(), done)
				})
			}
		}
	}
}

// TestFaultClockAndAge proves that a wrong clock cannot bypass a minimum release age. If a registry does not publish
// the time of a release, its age counts from when the machine first saw it with a plausible clock.
func TestFaultClockAndAge(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	m := newMachine(t, w)
	m.write(filepath.Join(m.project, "skillpm.yaml"), fmt.Sprintf("min-release-age: 72h\nnamespaces: {acme: \"oci://%s/acme\"}\n", w.registry.Host))
	for _, now := range []time.Time{time.Unix(0, 0), year(2100), year(2026), year(2026).Add(71 * time.Hour)} {
		m.check(m.at(now, "install", "acme/other"), 4, []string{"younger than the minimum release age of 72h"})
	}
	if e := m.at(year(2026).Add(72*time.Hour), "install", "acme/other"); e.code != 0 {
		t.Error(e)
	}
}

// TestFaultClockJumps runs every kind of command after the clock jumped from one time to another: each ends without a
// crash, keeps what is installed, and gives the same result when the clock is right again. The log stays verifiable.
func TestFaultClockJumps(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	right := year(2026)
	jumps := map[string]time.Time{
		"1970": time.Unix(0, 0), "before 1970": time.Unix(-1<<33, 0), "2038": time.Unix(1<<31, 0),
		"2100": year(2100), "9999": year(9999), "an hour back": right.Add(-time.Hour),
		"a second back": right.Add(-time.Second), "a year ahead": right.AddDate(1, 0, 0),
		"leap second": time.Date(2016, 12, 31, 23, 59, 60, 0, time.UTC),
		"summer time": time.Date(2026, 10, 25, 2, 30, 0, 0, time.FixedZone("CEST", 7200)),
	}
	commands := [][]string{
		{"install"},
		{"update"},
		{"outdated"},
		{"verify"},
		{"list"},
		{"doctor"},
		{"cache", "gc"},
		{"cache", "list"},
		{"load", "lint", "--session", "s"},
		{"session", "list"},
		{"session", "allow", "Read", "--session", "s"},
		{"log"},
		{"log", "--since", "7d"},
		{"log", "stats"},
		{"log", "export"},
		{"log", "verify"},
		{"approve", "deploy", "--reason", "r", "--expires", "30d"},
		{"approve", "--list"},
		{"policy", "explain", "deploy"},
		{"audit"},
		{"skills"},
		{"info", "acme/web"},
	}
	for name, jump := range jumps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, w)
			m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
			if e := m.at(right, "install"); e.code != 0 {
				t.Fatal(e)
			}
			installed := m.tree()
			for _, args := range commands {
				first := m.at(right, args...)
				for _, now := range []time.Time{jump, right} {
					e := m.at(now, args...)
					if e.code == 1 || strings.Contains(e.err, "panic") || now.Equal(right) && e.code != first.code {
						t.Errorf("at %s, before %d: %v", now, first.code, e)
					}
				}
			}
			after := m.tree()
			for path, text := range installed {
				if strings.HasPrefix(path, ".skillpm/plugins/") && after[path] != text {
					t.Errorf("%s changed", path)
				}
			}
			if e := m.at(right, "log", "verify"); e.code != 0 {
				t.Error(e)
			}
		})
	}
}

// TestFaultClockBack proves what an approval that expires promises: it ends at its time. If the clock is set back, it
// is in effect again, because the clock is all that skillpm has; the audit log shows the earlier times.
func TestFaultClockBack(t *testing.T) {
	t.Parallel()
	w := newServers(t)
	m := newMachine(t, w)
	m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
	now := year(2026)
	if e := m.at(now, "install"); e.code != 0 {
		t.Fatal(e)
	}
	m.write(filepath.Join(m.project, "skillpm-policy.yaml"), "version: 1\napprove: [scripts]\n")
	for _, step := range []struct {
		at    time.Duration
		args  []string
		fails bool
	}{
		{0, []string{"load", "lint", "--session", "s"}, true},
		{0, []string{"approve", "lint", "--reason", "r", "--expires", "24h"}, false},
		{time.Hour, []string{"load", "lint", "--session", "s"}, false},
		{25 * time.Hour, []string{"load", "lint", "--session", "t"}, true},
		{time.Hour, []string{"load", "lint", "--session", "u"}, false},
		{time.Hour, []string{"log", "verify"}, false},
	} {
		if e := m.at(now.Add(step.at), step.args...); (e.code != 0) != step.fails {
			t.Errorf("after %s: %v", step.at, e)
		}
	}
}
