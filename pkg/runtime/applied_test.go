package runtime_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// findings returns the linter's findings about the test's skill under its profile.
func findings(t *testing.T, project string) []diag.Finding {
	t.Helper()
	p, err := profile.Lookup("kodelet")
	if err != nil {
		t.Fatal(err)
	}
	report, err := lint.Run(t.Context(), safefile.Dir(project+"/.kodelet/skills/z"), []string{"."},
		lint.Options{Profiles: []*profile.Profile{p}})
	if err != nil {
		t.Fatal(err)
	}
	return report.Findings
}

func reports(t *testing.T, h *runtime.Host, rule string, severity diag.Severity) bool {
	t.Helper()
	return slices.ContainsFunc(findings(t, h.Dir()), func(f diag.Finding) bool {
		return f.Rule == rule && f.Severity == severity
	})
}

// TestValidateAgrees checks that a message of the linter about a field of another agent agrees with the runtime: a field
// that skillpm applies under a profile without it has the effect that a case here shows.
func TestValidateAgrees(t *testing.T) {
	load := func(t *testing.T, h *runtime.Host, trigger session.Trigger) error {
		_, err := h.Load(t.Context(), "s", session.Activate{Trigger: trigger})
		return err
	}
	fails := func(t *testing.T, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error()+" "+diag.HintOf(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	found := func(t *testing.T, h *runtime.Host) *catalog.Skill {
		t.Helper()
		k, err := h.Lookup(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	cases := map[string]struct {
		front string
		check func(*testing.T, *runtime.Host)
	}{
		"allowed-tools": {"allowed-tools: Read\n", func(t *testing.T, h *runtime.Host) {
			if err := load(t, h, session.Model); err != nil {
				t.Fatal(err)
			}
			v, err := h.Session().Allow(t.Context(), tool.Call{Tool: "Write", Input: map[string]any{"file_path": "x"}})
			if err != nil || v.Allowed {
				t.Errorf("%v, %v", v, err)
			}
		}},
		"disallowed-tools": {"disallowed-tools: Write\n", func(t *testing.T, h *runtime.Host) {
			if err := load(t, h, session.Model); err != nil {
				t.Fatal(err)
			}
			v, err := h.Session().Allow(t.Context(), tool.Call{Tool: "Write", Input: map[string]any{"file_path": "x"}})
			if err != nil || v.Allowed {
				t.Errorf("%v, %v", v, err)
			}
		}},
		"disable-model-invocation": {"disable-model-invocation: true\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "disable-model-invocation")
		}},
		"user-invocable": {"user-invocable: false\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.User), "user-invocable")
		}},
		"scope": {"scope: {tenants: [acme]}\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "only for tenant acme")
		}},
		"execution": {"execution: {sandbox: true}\n", func(t *testing.T, h *runtime.Host) {
			_, err := h.Run(t.Context(), "s", session.RunOptions{Script: "scripts/x.sh"})
			fails(t, err, "sandbox")
		}},
		"context": {"context: fork\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "runner")
		}},
		"agent": {"context: fork\nagent: nonesuch\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "nonesuch")
		}},
		"model": {"model: fast\n", func(t *testing.T, h *runtime.Host) {
			if k := found(t, h); k.Model != "fast" {
				t.Error(k.Model)
			}
		}},
		"hooks": {"hooks: {pre: scripts/none.sh}\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "hook")
			if !reports(t, h, "REF010", diag.SeverityError) {
				t.Error("a missing hook is not an error")
			}
		}},
		"command": {"command: exit 3\n", func(t *testing.T, h *runtime.Host) {
			if a, err := h.Load(t.Context(), "s", session.Activate{}); err != nil || a.Command != "exit 3" {
				t.Errorf("%v, %v", a, err)
			}
		}},
		"priority": {"priority: 7\n", func(t *testing.T, h *runtime.Host) {
			if k := found(t, h); k.Dir != h.Dir()+"/.kodelet/skills/z" {
				t.Error(k.Dir)
			}
		}},
		"tags": {"tags: [reports]\n", func(t *testing.T, h *runtime.Host) {
			if k := found(t, h); !k.Tagged("reports") {
				t.Error(k.Tags)
			}
		}},
		"toolsets": {"toolsets: [other]\n", func(t *testing.T, h *runtime.Host) {
			fails(t, load(t, h, session.Model), "needs the toolset other")
		}},
		"files": {"files: [{path: scripts/x.sh, description: X}]\n", func(t *testing.T, h *runtime.Host) {
			if a, err := h.Load(t.Context(), "s", session.Activate{}); err != nil || len(a.Files) != 1 {
				t.Errorf("%v, %v", a, err)
			}
		}},
		"arguments": {"arguments: [input]\n", func(t *testing.T, h *runtime.Host) {
			if l, err := found(t, h).Load(); err != nil || len(l.Front.Arguments) != 1 {
				t.Errorf("%v, %v", l, err)
			}
		}},
		"argument-hint": {"argument-hint: <input>\n", func(t *testing.T, h *runtime.Host) {
			if k := found(t, h); k.ArgumentHint != "<input>" {
				t.Error(k.ArgumentHint)
			}
		}},
		"when_to_use": {"when_to_use: On rainy Fridays\n", func(t *testing.T, h *runtime.Host) {
			k := found(t, h)
			f, err := catalog.NewFinder([]catalog.Candidate{{Name: k.Name, WhenToUse: k.WhenToUse}})
			if err != nil {
				t.Fatal(err)
			}
			if found, err := f.Find("rainy"); err != nil || len(found.Matches) != 1 {
				t.Errorf("%+v, %v", found, err)
			}
		}},
	}
	for field, c := range cases {
		t.Run(field, func(t *testing.T) {
			files := map[string]string{
				"home/project/.kodelet/skills/z/SKILL.md":     text("s", c.front),
				"home/project/.kodelet/skills/z/scripts/x.sh": "exit 0\n",
			}
			if field == "priority" {
				files["home/project/.kodelet/skills/a/SKILL.md"] = text("s", "")
			}
			o := options(t, files)
			o.Profile, o.Session, o.Toolsets = "kodelet", "t", []string{}
			o.Getenv = func(name string) string {
				if name == "PATH" {
					return os.Getenv(name)
				}
				return ""
			}
			c.check(t, mustOpen(t, o))
			for _, f := range findings(t, o.Dir) {
				if f.Rule == "FM012" && strings.Contains(f.Message, "no effect") {
					t.Errorf("%s", f.Message)
				}
			}
			doc, _ := skill.Parse([]byte(text("s", c.front)))
			if !doc.Applies(field) {
				t.Errorf("%s has an effect", field)
			}
		})
	}
	for _, field := range []string{"license", "effort", "metadata", "hooks"} {
		doc, _ := skill.Parse([]byte(text("s", "hooks: {Stop: [{command: x}]}\n")))
		if doc.Applies(field) {
			t.Errorf("%s does not have an effect", field)
		}
	}
}
