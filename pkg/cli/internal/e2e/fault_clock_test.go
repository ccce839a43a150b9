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
