//go:build slow

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// runAll runs commands concurrently, each in its own process, and returns how they ended.
func (m *machine) runAll(commands ...[]string) []ended {
	m.tb.Helper()
	all := make([]ended, len(commands))
	var group sync.WaitGroup
	for i, args := range commands {
		group.Go(func() { all[i] = m.run(args...) })
	}
	group.Wait()
	return all
}

// TestFaultConcurrent runs 20 concurrent processes on an empty store, with others that verify and clean in between.
func TestFaultConcurrent(t *testing.T) { // M2
	t.Parallel()
	w := newServers(t)
	done := newMachine(t, w).fresh()
	t.Run("the same update", func(t *testing.T) {
		m := newMachine(t, w)
		m.firstVersions()
		commands := slices.Repeat([][]string{w.update()}, 14)
		commands = append(commands, slices.Repeat([][]string{{"verify"}, {"cache", "gc", "--all", "--quiet"}}, 3)...)
		for _, e := range m.runAll(commands...) {
			if e.code != 0 {
				t.Error(e)
			}
		}
		same(t, "updated", m.tree(), done)
		m.ok("verify")
		m.ok("cache", "verify")
	})
	t.Run("one project, different packs", func(t *testing.T) {
		const packs = 14
		m := newMachine(t, w)
		m.write(filepath.Join(m.project, "skillpm.yaml"), fmt.Sprintf("namespaces: {many: \"oci://%s/many\"}\n", w.registry.Host))
		m.ok("install")
		var commands [][]string
		for i := range packs {
			name := fmt.Sprint("p", i)
			m.publish("many/"+name, "1.0.0", "", name, "shared") // each wants the name "shared", too
			commands = append(commands, []string{"install", "many/" + name})
		}
		rest := commands
		commands = append(commands, slices.Repeat([][]string{{"verify"}, {"cache", "gc", "--all", "--quiet"}}, 3)...)
		for rounds := 0; len(rest) > 0 && rounds < packs; rounds++ {
			all := m.runAll(commands...)
			rest = nil
			for _, e := range all {
				if e.code == 5 && strings.Contains(e.err, "another process keeps changing") && strings.Contains(e.err, "hint: wait") {
					rest = append(rest, e.args)
				} else if e.code != 0 {
					t.Error(e)
				}
			}
			commands = rest
		}
		if len(rest) > 0 {
			t.Errorf("%q never won", rest)
		}
		m.ok("verify")
		m.ok("cache", "verify")
		m.ok("install", "--frozen")
		tree := m.tree()
		for i := range packs {
			for _, want := range []string{fmt.Sprintf(".skillpm/plugins/many/p%d/p%d/SKILL.md", i, i), fmt.Sprintf(".agents/skills/p%d", i)} {
				if tree[want] == "" {
					t.Errorf("%s is missing", want)
				}
			}
			if !strings.Contains(tree["skillpm.lock"], fmt.Sprintf("  many/p%d:\n", i)) || !strings.Contains(tree["skillpm.yaml"], fmt.Sprintf("many/p%d:", i)) {
				t.Errorf("many/p%d is not recorded", i)
			}
		}
	})
	t.Run("one configuration, different settings", func(t *testing.T) {
		m := newMachine(t, w)
		commands := [][]string{
			{"config", "set", "link-mode", "copy"},
			{"config", "set", "git", "builtin"},
			{"config", "set", "skills.max-depth", "3"},
			{"config", "set", "min-release-age", "3d"},
			{"config", "set", "skills.trusted-projects", "true"},
			{"registry", "add", "one", "https://one.example", "--no-check"},
			{"registry", "add", "two", "https://two.example", "--no-check"},
		}
		for rest := commands; len(rest) > 0; {
			all := m.runAll(rest...)
			rest = nil
			for _, e := range all {
				if e.code == 5 && strings.Contains(e.err, "config.yaml changed while skillpm used it") {
					rest = append(rest, e.args)
				} else if e.code != 0 {
					t.Fatal(e)
				}
			}
		}
		list := m.ok("config", "list").out
		for _, want := range []string{"link-mode", "git", "max-depth", "min-release-age", "trusted-projects", "one.example", "two.example"} {
			if !strings.Contains(list, want) {
				t.Errorf("%s is missing in:\n%s", want, list)
			}
		}
	})
	t.Run("many projects, one store", func(t *testing.T) {
		one := newMachine(t, w)
		var group sync.WaitGroup
		for i := range 20 {
			m := newMachineIn(t, w, filepath.Dir(one.home))
			m.project = filepath.Join(m.home, fmt.Sprint("project", i))
			m.write(filepath.Join(m.project, "skillpm.yaml"), w.before())
			group.Go(func() {
				for _, args := range [][]string{{"install"}, w.update(), {"verify"}} {
					if e := m.run(args...); e.code != 0 {
						t.Error(e)
					}
				}
				same(t, m.project, m.tree(), done)
			})
		}
		group.Go(func() {
			for range 4 { // an install starts over as often
				if e := one.run("cache", "gc", "--all", "--quiet"); e.code != 0 {
					t.Error(e)
				}
			}
		})
		group.Wait()
		one.ok("cache", "verify")
	})
}
