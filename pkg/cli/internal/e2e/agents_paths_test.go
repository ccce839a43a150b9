//go:build slow

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// pathForm is a way to write the path of a file in the directory d of a project, by the file's name.
type pathForm struct {
	name  string
	spell func(w *desk, file string) string
}

func pathForms() []pathForm {
	around := func(before, after string) func(*desk, string) string {
		return func(_ *desk, file string) string { return before + "d/" + file + after }
	}
	return []pathForm{
		{"plain", around("", "")},
		{"space before", around(" ", "")},
		{"space after", around("", " ")},
		{"newline after", around("", "\n")},
		{"tab before", around("\t", "")},
		{"mark before", around("\ufeff", "")},
		{"no-break space", around("\u00a0", "")},
		{"zero width", around("\u200b", "")},
		{"percent", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, ".", "%2e") }},
		{"percent twice", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, ".", "%252e") }},
		{"percent up", func(_ *desk, file string) string { return "d/%2e%2e/d/" + file }},
		{"percent and malformed", func(_ *desk, file string) string { return "%zz/../d/" + strings.ReplaceAll(file, ".", "%2e") }},
		{"at", around("@", "")},
		{"at slash", around("@/", "")},
		{"NUL after", around("", "\x00")},
		{"NUL within", func(_ *desk, file string) string { return "d/\x00" + file }},
		{"NUL ends", around("", "\x00.txt")},
		{"control", around("\x01", "")},
		{"tilde", func(_ *desk, file string) string { return "~/../project/d/" + file }},
		{"variable", func(_ *desk, file string) string { return "$HOME/../project/d/" + file }},
		{"braces", func(_ *desk, file string) string { return "${HOME}/../project/d/" + file }},
		{"working directory", func(_ *desk, file string) string { return "$PWD/d/" + file }},
		{"URL", func(w *desk, file string) string { return "file://" + w.project + "/d/" + file }},
		{"URL without slashes", func(w *desk, file string) string { return "file:" + w.project + "/d/" + file }},
		{"URL with percent", func(w *desk, file string) string { return "file://" + w.project + "/%64/" + file }},
		{"URL with query", func(w *desk, file string) string { return "file://" + w.project + "/d/" + file + "?x" }},
		{"URL with upper case", func(w *desk, file string) string { return "FILE://" + w.project + "/d/" + file }},
		{"backslash", func(_ *desk, file string) string { return `d\` + file }},
		{"backslash escape", func(_ *desk, file string) string { return `d/` + strings.ReplaceAll(file, "-", `\-`) }},
		{"double quotes", around(`"`, `"`)},
		{"quotes", around("'", "'")},
		{"backquotes", around("`", "`")},
		{"brackets", around("<", ">")},
		{"upper case", func(_ *desk, file string) string { return "d/" + strings.ToUpper(file) }},
		{"decomposed", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, "é", "e\u0301") }},
		{"composed", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, "a\u0308", "ä") }},
		{"fullwidth", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, ".", "．") }},
		{"long", func(_ *desk, file string) string { return strings.Repeat("d/../", 1500) + "d/" + file }},
		{"through a file", func(_ *desk, file string) string { return "d/none/../" + file }},
		{"only the name", func(_ *desk, file string) string { return file }},
		{"line", around("", ":1")},
		{"fragment", around("", "#L1")},
		{"entity", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, ".", "&#46;") }},
		{"escaped unicode", func(_ *desk, file string) string { return "d/" + strings.ReplaceAll(file, ".", `\u002e`) }},
		{"process", func(_ *desk, file string) string { return "/proc/self/cwd/d/" + file }},
	}
}

// pathTools are the file tools of an agent: how it reads, writes, and edits a file at a path.
func pathTools() map[string]map[string]func(path string) mockmodel.Step {
	use := func(tool, field string, more ...string) func(string) mockmodel.Step {
		return func(path string) mockmodel.Step {
			input := map[string]any{field: path}
			for i := 0; i < len(more); i += 2 {
				input[more[i]] = more[i+1]
			}
			return mockmodel.Use(tool, input)
		}
	}
	return map[string]map[string]func(string) mockmodel.Step{
		"claude-code": {
			"read": use("Read", "file_path"), "write": use("Write", "file_path", "content", "changed\n"),
			"edit": use("Edit", "file_path", "old_string", "before", "new_string", "changed"),
		},
		"gemini-cli": {
			"read": use("read_file", "file_path"), "write": use("write_file", "file_path", "content", "changed\n"),
			"edit": use("replace", "file_path", "old_string", "before", "new_string", "changed", "instruction", "Change it."),
			"grep": use("grep_search", "dir_path", "pattern", "content"), "glob": use("glob", "dir_path", "pattern", "*"),
			"ls": use("list_directory", "dir_path"),
		},
		"opencode": {
			"read": use("read", "filePath"), "write": use("write", "filePath", "content", "changed\n"),
			"edit": use("edit", "filePath", "oldString", "before", "newString", "changed"),
		},
		"github-copilot": {
			"read": use("view", "path"), "write": use("create", "path", "file_text", "changed\n"),
			"edit": use("edit", "path", "old_str", "before", "new_str", "changed"),
			"grep": use("grep", "path", "pattern", "content", "output_mode", "content"), "glob": use("glob", "path", "pattern", "*"),
		},
	}
}

// acceptedForms are those that the tools of an agent accept besides the plain path, as measured. A new one must be in
// the agent's row of package hook.
func acceptedForms() map[string]map[string]string {
	const (
		everywhere = "long, through a file, process"
		claude     = "space before, space after, newline after, tab before, mark before, no-break space, tilde, through a file, " +
			"escaped unicode, process"
		gemini = "percent, percent up, percent and malformed, at, at slash, NUL after, NUL within, only the name, " + everywhere
		search = "percent, percent up, percent and malformed, " + everywhere
	)
	return map[string]map[string]string{
		"claude-code":    {"read": claude, "write": claude, "edit": claude},
		"gemini-cli":     {"read": gemini, "write": gemini, "edit": gemini, "grep": search, "glob": search, "ls": everywhere},
		"github-copilot": {"read": everywhere, "write": everywhere, "edit": everywhere, "grep": everywhere, "glob": everywhere},
		"opencode":       {"read": everywhere, "write": everywhere},
	}
}

// TestAgentsPathForms measures which forms of a path each agent's tools accept (K1).
func TestAgentsPathForms(t *testing.T) {
	const newest = "SKILLPM_CLAUDE_NEW" // the older Claude Code accepts the same forms, but exits with 1 after these calls
	agents := append(skillAgents(), skillAgent{
		agentProgram: agentProgram{variable: "SKILLPM_OPENCODE", agent: "opencode", host: "opencode", play: opencode},
	})
	for _, a := range agents {
		if a.agent == "claude-code" {
			a.variable, a.play = newest, claudeOf(newest)
		}
		t.Run(a.agent, func(t *testing.T) {
			t.Parallel()
			npmProgram(t, a.variable)
			for kind, accepted := range acceptedForms()[a.agent] {
				for _, form := range a.acceptedForms(t, kind) {
					if form != "plain" && !slices.Contains(strings.Split(accepted, ", "), form) {
						t.Errorf("%s: the form %q is accepted", kind, form)
					}
				}
			}
		})
	}
}

// acceptedForms lets an agent use a tool with each form of a path, and returns those that led to the file.
func (a skillAgent) acceptedForms(t *testing.T, kind string) (accepted []string) {
	w := newDesk(t)
	use := pathTools()[a.agent][kind]
	file := func(i int) string { return fmt.Sprintf("f-%dé-a\u0308.txt", i) }
	mark := func(i int) string { return fmt.Sprintf("[content %d]", i) }
	var steps []mockmodel.Step
	for i, form := range pathForms() {
		switch kind {
		case "read", "grep":
			w.write("d/"+file(i), mark(i)+"\n")
		case "glob", "ls":
			w.write("d/"+file(i)+"/"+mark(i), "")
		case "edit":
			w.write("d/"+file(i), "before\n")
			if read := pathTools()[a.agent]["read"]; a.agent != "gemini-cli" {
				steps = append(steps, read(w.project+"/d/"+file(i)))
			}
		default:
			w.write("d/other", "")
		}
		steps = append(steps, use(form.spell(w, file(i))))
	}
	if a.agent == "gemini-cli" { // it looks for loops after 30 turns
		var batches []mockmodel.Step
		for some := range slices.Chunk(steps, 9) {
			batches = append(batches, batch(some...))
		}
		steps = batches
	}
	model := mockmodel.New(t, mockmodel.Script{"main": steps})
	a.play(w, model, "[main] Do it.")
	results := model.Results("main")
	for i, form := range pathForms() {
		data, _ := os.ReadFile(w.project + "/d/" + file(i))
		other := mark((i + 1) % len(pathForms())) // a search of everything
		found := i < len(results) && strings.Contains(results[i].Text, mark(i)) && !strings.Contains(results[i].Text, other)
		if string(data) == "changed\n" || kind != "write" && kind != "edit" && found {
			accepted = append(accepted, form.name)
		}
	}
	if !slices.Contains(accepted, "plain") {
		t.Errorf("%s: the plain path does not work:%s", kind, answers(model))
	}
	return accepted
}

// TestGeminiProtectedPaths checks K7 with Gemini CLI: no form of a path that it accepts reads what a skill does not
// allow, or overwrites a protected file, with and without an active skill.
func TestGeminiProtectedPaths(t *testing.T) {
	a := skillAgents()[2]
	for _, active := range []bool{false, true} {
		w := newDesk(t)
		w.write("skillpm-policy.yaml", "version: 1\n")
		w.write("skillpm-approvals.yaml", "version: 1\n")
		w.write("secret.txt", "the secret")
		w.write("docs/a.md", "")
		w.installSkills(a, map[string]string{"docsy": "allowed-tools: Read(docs/**), Write(docs/**), Edit(docs/**)"})
		body := w.run("find", ".skillpm/plugins", "-name", "SKILL.md", "-print")
		settings := w.run("cat", "skillpm-policy.yaml", "skillpm-approvals.yaml", "secret.txt", strings.TrimSpace(body))
		var calls []mockmodel.Step
		for _, p := range []string{
			"docs/%2e%2e/skillpm-policy.yaml", "%2e" + strings.TrimSpace(body)[1:], "@skillpm-policy.yaml", "skillpm-approvals.yaml\x00",
			strings.Repeat("docs/../", 700) + "skillpm-policy.yaml", "@/skillpm-policy.yaml", "/proc/self/cwd/skillpm-policy.yaml",
			".gemini/settings%2Ejson",
		} {
			calls = append(calls, mockmodel.Use("write_file", map[string]any{"file_path": p, "content": "changed"}))
		}
		calls = append(calls, mockmodel.Use("replace", map[string]any{
			"file_path": "docsy/SKILL.md", "old_string": "Body", "new_string": "Changed", "instruction": "x",
		}))
		if active {
			calls = append(calls, mockmodel.Use("read_file", map[string]any{"file_path": "docs/%2e%2e/secret.txt"}),
				mockmodel.Use("write_file", map[string]any{"file_path": "docs/%2e%2e/secret.txt", "content": "changed"}))
		}
		steps := []mockmodel.Step{batch(calls[:6]...), batch(calls[6:]...)}
		if active {
			steps = append([]mockmodel.Step{a.use("docsy")}, steps...)
		}
		model := mockmodel.New(t, mockmodel.Script{"main": steps})
		a.play(w, model, "[main] Do it.")
		after := w.run("cat", "skillpm-policy.yaml", "skillpm-approvals.yaml", "secret.txt", strings.TrimSpace(body))
		hooks := w.run("cat", ".gemini/settings.json")
		if after != settings || !strings.Contains(hooks, "skillpm") || strings.Contains(answers(model), "the secret") {
			t.Errorf("active %v: %s%s", active, after, answers(model))
		}
	}
}
