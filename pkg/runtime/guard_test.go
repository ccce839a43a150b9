package runtime_test

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/policy/enforce"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// governed returns a host on a machine with a policy, and a skill with a script in the user's layer.
func governed(t *testing.T, text string) (runtime.Options, string) {
	t.Helper()
	o := options(t, map[string]string{
		"home/.skillpm/skills/a/SKILL.md": text1("a"), "home/.skillpm/skills/a/scripts/run.sh": "#!/bin/sh\necho ran\n",
	})
	o.Admin, o.Paths.Enterprise = os.Getuid(), filepath.Join(o.Paths.Home, "enterprise")
	file := filepath.Join(o.Paths.Enterprise, "policy.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("version: 1\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(o.Paths.Home, ".skillpm/skills/a/scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	return o, file
}

func text1(name string) string { return text(name, "hooks: {pre: scripts/run.sh}\n") }

// TestDeniedAtOnce checks O14: a long-running program applies a new denial at its next call, whichever policy it is in.
func TestDeniedAtOnce(t *testing.T) {
	o, _ := governed(t, "")
	o.Session = "s"
	long := mustOpen(t, o)
	if _, err := long.Lookup(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := mustOpen(t, o).Guard().Deny(t.Context(), policy.UserLevel, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := long.Load(t.Context(), "a", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("load: %v", err)
	}
	if _, err := long.Read(t.Context(), "a", "SKILL.md"); diag.CodeOf(err) != diag.Denied {
		t.Errorf("read: %v", err)
	}
	if skills, err := long.Skills(t.Context()); err != nil || len(skills) != 0 {
		t.Errorf("%v, %v", skills, err)
	}
	if _, err := long.Message(t.Context(), "/a", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("message: %v", err)
	}
	if _, err := mustOpen(t, o).Guard().Undeny(t.Context(), policy.UserLevel, "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := long.Lookup(t.Context(), "a"); err != nil {
		t.Errorf("once it is not denied any more: %v", err)
	}
}

// TestMachineWithoutPlaces checks O14: a program that sets no paths still gets the machine's policy.
func TestMachineWithoutPlaces(t *testing.T) {
	o := options(t, nil)
	o.Paths.Enterprise = ""
	if h := mustOpen(t, o); h.Paths().Enterprise != scope.Enterprise(goruntime.GOOS) {
		t.Errorf("%q", h.Paths().Enterprise)
	}
}

// TestConcurrentChange checks O13: instructions that change after they were read are not covered by the policy
// decision.
func TestConcurrentChange(t *testing.T) {
	o, _ := governed(t, "forbid: [native-binaries]")
	h := mustOpen(t, o)
	c, err := h.Catalog(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k, err := c.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := k.Load()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Door().Activate(t.Context(), loaded); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(loaded.Dir, "SKILL.md"), []byte(text1("a")+"Or not.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Door().Activate(t.Context(), loaded); diag.CodeOf(err) != diag.Conflict || !strings.Contains(err.Error(), "SKILL.md changed after the policy check") {
		t.Errorf("%v", err)
	}
}

// TestCopyOfSkill checks O13: a copy of a skill is checked against the policies for the original.
func TestCopyOfSkill(t *testing.T) {
	o, _ := governed(t, "skills: {deny: [a@acme/tools]}")
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); err != nil {
		t.Error(err)
	}
	o.As = &enforce.Skill{Name: "a", Pack: "acme/tools", Source: "embedded"}
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v", err)
	}
}

// TestRefusedBeforeHook checks O13: the pre hook of a refused skill does not run, and the audit log has the reason.
func TestRefusedBeforeHook(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("the hook is a script of a Unix shell")
	}
	o, _ := governed(t, "approve: [scripts]\n")
	marker := filepath.Join(o.Dir, "marker")
	script := filepath.Join(o.Paths.Home, ".skillpm/skills/a/scripts/run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{})
	if diag.CodeOf(err) != diag.Denied || !strings.Contains(err.Error(), "the skill is not approved") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the hook ran")
	}
}

// TestRequiredLog checks O14: an operation that must be logged but cannot be is refused.
func TestRequiredLog(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("paths are those of Unix")
	}
	o, file := governed(t, "")
	blocked := filepath.Join(o.Paths.Home, "file")
	for path, data := range map[string]string{blocked: "", file: "version: 1\naudit: {path: " + blocked + "/audit.jsonl, required: true}\n"} {
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o.Session = "s"
	h := mustOpen(t, o)
	if _, err := h.Load(t.Context(), "a", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("load: %v", err)
	}
	if _, err := h.Run(t.Context(), "a", session.RunOptions{Script: "scripts/run.sh"}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("run: %v", err)
	}
	if state, err := h.Session().State(); err != nil || len(state.Active) != 0 {
		t.Errorf("%+v, %v", state, err)
	}
	good := filepath.Join(o.Paths.Home, "log", "audit.jsonl")
	if err := os.WriteFile(file, []byte("version: 1\naudit: {path: "+good+", required: true}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(good); err != nil || !strings.Contains(string(data), `"phase":"intent"`) || !strings.Contains(string(data), `"phase":"outcome"`) {
		t.Errorf("%s, %v", data, err)
	}
}

// TestOwnMachineLayer checks O14: a user's layer with the name of the machine's does not count as the machine's, so
// that its skills are subject to all policies.
func TestOwnMachineLayer(t *testing.T) {
	o, _ := governed(t, "approve: [scripts]\n")
	o.Layers = []profile.Layer{{Name: "enterprise", Dirs: []string{filepath.ToSlash(filepath.Join(o.Paths.Home, ".skillpm/skills"))}}}
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); diag.CodeOf(err) != diag.Denied {
		t.Errorf("%v", err)
	}
	o.Layers[0].Dirs[0] = filepath.ToSlash(filepath.Join(o.Paths.Enterprise, "skills"))
	if err := os.CopyFS(o.Layers[0].Dirs[0], os.DirFS(filepath.Join(o.Paths.Home, ".skillpm/skills"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(o.Layers[0].Dirs[0], "a/scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if goruntime.GOOS == "windows" {
		return // the hook is a script of a Unix shell
	}
	if _, err := mustOpen(t, o).Load(t.Context(), "a", session.Activate{}); err != nil {
		t.Errorf("the machine's own: %v", err)
	}
}
