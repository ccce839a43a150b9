//go:build slow

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evaluate"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/testkit/mockmodel"
)

// evaluatedAgent is a real agent that evaluations run with a scripted model.
type evaluatedAgent struct {
	id, program, variable string
	arguments             string                                   // for --agent-args
	connect               func(*desk, *mockmodel.Server)           // points the agent to the model
	activate              mockmodel.Step                           // activates the skill
	write                 func(r mockmodel.Request) mockmodel.Step // writes out.txt
	reportsCost           bool
}

func evaluatedAgents() []evaluatedAgent {
	list := []evaluatedAgent{
		{
			id: "claude-code", program: "claude", variable: "SKILLPM_CLAUDE", reportsCost: true,
			arguments: "--permission-mode acceptEdits --model claude-sonnet-4-5",
			connect: func(w *desk, model *mockmodel.Server) {
				w.env = append(w.env, "ANTHROPIC_BASE_URL="+model.URL, "ANTHROPIC_API_KEY=none",
					"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
			},
			activate: activate("greet"),
			write: func(r mockmodel.Request) mockmodel.Step {
				return mockmodel.Use("Write", map[string]any{"file_path": workDir(r) + "/out.txt", "content": "hello\n"})
			},
		},
		{
			id: "codex", program: "codex", variable: "SKILLPM_CODEX", arguments: "--sandbox workspace-write",
			connect: func(w *desk, model *mockmodel.Server) {
				w.write("../home/.codex/config.toml", fmt.Sprintf(codexConfig, model.URL, w.project))
				w.env = append(w.env, "SCRIPTED_KEY=none")
			},
			activate: shell("cat .agents/skills/greet/SKILL.md"),
			write:    func(mockmodel.Request) mockmodel.Step { return shell("echo hello >out.txt") },
		},
		{
			id: "gemini", program: "gemini", variable: "SKILLPM_GEMINI", arguments: "--approval-mode auto_edit --model gemini-2.5-pro",
			connect: func(w *desk, model *mockmodel.Server) {
				w.write("../home/.gemini/settings.json", `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`)
				w.env = append(w.env, "GOOGLE_GEMINI_BASE_URL="+model.URL, "GEMINI_API_KEY=none", "GEMINI_TELEMETRY_ENABLED=false")
			},
			activate: mockmodel.Use("activate_skill", map[string]any{"name": "greet"}),
			write: func(mockmodel.Request) mockmodel.Step {
				return mockmodel.Use("write_file", map[string]any{"file_path": "out.txt", "content": "hello\n"})
			},
		},
	}
	newest := list[0]
	newest.variable = "SKILLPM_CLAUDE_NEW"
	return append(list, newest)
}

// workDir returns the working directory that Claude Code tells its model.
func workDir(r mockmodel.Request) string {
	_, rest, _ := strings.Cut(r.SystemText(), "working directory: ")
	dir, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(dir)
}

// model returns a model that writes the file only with the skill, and that judges what it is asked to. It plays the same
// for each run, whatever other runs there are. Hold, which may be nil, is called before each answer.
func (a evaluatedAgent) model(t *testing.T, hold func(mockmodel.Request)) *mockmodel.Server {
	work := mockmodel.Step{Decide: func(r mockmodel.Request) mockmodel.Step {
		if hold != nil {
			hold(r)
		}
		switch listed := strings.Contains(r.SystemText(), "Writes greetings into files."); {
		case strings.Contains(strings.Join(r.User, "\n"), "You judge the result of a task"):
			return mockmodel.Say(`{"grades": [{"passed": true, "evidence": "out.txt has hello"}]}`)
		case !listed:
			return mockmodel.Say("I do not know greetings.")
		case len(r.Results) == 0:
			return a.activate
		case len(r.Results) == 1:
			return a.write(r)
		}
		return mockmodel.Say("The greeting is in out.txt.")
	}}
	return mockmodel.New(t, mockmodel.Script{
		"main":  slices.Repeat([]mockmodel.Step{work}, 200),
		"other": slices.Repeat([]mockmodel.Step{mockmodel.Say("That is something else.")}, 50),
	})
}

// evaluatedSkill is a skill with tasks and trigger queries. Conversations of the scripted model are in brackets.
var evaluatedSkill = map[string]string{
	"greet/SKILL.md": "---\nname: greet\ndescription: Writes greetings into files.\n---\nWrite hello into out.txt.\n",
	"greet/evals/evals.json": `{"skill_name": "greet", "evals": [{
  "id": "write", "prompt": "[main] Greet the world.", "files": ["evals/files/world.txt"],
  "assertions": ["The greeting is friendly"],
  "graders": [
    {"type": "file-equals", "file": "out.txt", "text": "hello\n"},
    {"type": "regexp", "pattern": "greeting"},
    {"type": "command", "command": ["grep", "-q", "hello", "out.txt", "world.txt"]}
  ]}]}`,
	"greet/evals/files/world.txt":   "world\n",
	"greet/evals/eval_queries.json": `[{"query": "[main] Greet the world.", "should_trigger": true}, {"query": "[other] Count all numbers.", "should_trigger": false}]`,
	// skills of the user must not affect runs
	"../home/.claude/skills/mine/SKILL.md": "---\nname: mine\ndescription: Belongs to the user.\n---\nx\n",
	"../home/.agents/skills/mine/SKILL.md": "---\nname: mine\ndescription: Belongs to the user.\n---\nx\n",
}

// newEvaluation returns a desk with the agent and the skill.
func newEvaluation(t *testing.T, a evaluatedAgent, model *mockmodel.Server) *desk {
	t.Helper()
	words := npmProgram(t, a.variable)
	w := newDesk(t)
	for name, content := range evaluatedSkill {
		w.write(name, content)
	}
	w.write("../bin/"+a.program, "#!/bin/sh\nexec "+strings.Join(words, " ")+" \"$@\"\n")
	for i, v := range w.env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			w.env[i] = "PATH=" + filepath.Join(filepath.Dir(w.project), "bin") + string(filepath.ListSeparator) + path
		}
	}
	a.connect(w, model)
	return w
}

// evaluateWith runs an evaluation, and returns its exit code, its report, and its messages.
func (w *desk) evaluateWith(a evaluatedAgent, args ...string) (int, *evaluate.Report, string) {
	w.t.Helper()
	line := append([]string{"test", "greet", "--agent", a.id, "--agent-args", a.arguments, "-o", "report.json"}, args...)
	cmd := exec.CommandContext(w.t.Context(), w.skillpm, line...)
	cmd.Dir, cmd.Env = w.project, w.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // the exit code says how it ended
	data, err := os.ReadFile(filepath.Join(w.project, "report.json"))
	if err != nil {
		w.t.Fatalf("%v\n%s", err, &out)
	}
	var r evaluate.Report
	if err := json.Unmarshal(data, &r); err != nil {
		w.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), &r, out.String()
}

// caseOf returns the runs of a case and a variant.
func caseOf(t *testing.T, r *evaluate.Report, id string, v evaluate.Variant) (runs []evaluate.Run) {
	t.Helper()
	for _, c := range r.Skills[0].Cases {
		for _, run := range c.Runs {
			if c.ID == id && run.Variant == v {
				runs = append(runs, run)
			}
		}
	}
	if len(runs) == 0 {
		t.Fatalf("there is no run of %s: %+v", id, r.Skills)
	}
	return runs
}

// TestEvaluateAgents evaluates a skill with real agents whose model succeeds only with the skill: the report has the
// outcomes, activations, tokens, and tool calls of both variants, and no run sees the user's skills.
func TestEvaluateAgents(t *testing.T) {
	for _, a := range evaluatedAgents() {
		t.Run(a.variable, func(t *testing.T) {
			t.Parallel()
			model := a.model(t, nil)
			w := newEvaluation(t, a, model)
			code, r, out := w.evaluateWith(a, "--repeat", "2", "--parallel", "2", "--compare", "without", "--html", "page.html")
			if code != 0 || len(r.Skills) != 1 || r.AgentVersion == "" || r.Model == "" || r.Interrupted {
				t.Fatalf("exit code %d, %+v\n%s", code, r, out)
			}
			with := caseOf(t, r, "write", evaluate.With)
			for _, run := range with {
				if run.Outcome != evaluate.Passed || len(run.Grades) != 4 || !slices.Equal(run.Activated, []string{"greet"}) ||
					run.ToolCalls != 2 || run.Denials != 0 || *run.InputTokens != 3000 || *run.OutputTokens != 30 ||
					(run.CostUSD != nil) != a.reportsCost || run.Output != "The greeting is in out.txt." {
					t.Errorf("with the skill: %+v\n%s", run, out)
				}
			}
			without := caseOf(t, r, "write", evaluate.Without)
			for _, run := range without {
				if run.Outcome != evaluate.Failed || len(run.Activated) > 0 || run.ToolCalls != 0 || *run.InputTokens != 1000 {
					t.Errorf("without the skill: %+v\n%s", run, out)
				}
			}
			if len(with) != 2 || len(without) != 2 {
				t.Errorf("%d and %d runs", len(with), len(without))
			}
			for _, id := range []string{"eval_queries/1", "eval_queries/2"} {
				for _, run := range caseOf(t, r, id, evaluate.With) {
					if run.Outcome != evaluate.Passed || (len(run.Activated) == 1) != (id == "eval_queries/1") {
						t.Errorf("%s: %+v\n%s", id, run, out)
					}
				}
			}
			for _, request := range append(model.Requests("main"), model.Requests("other")...) {
				if strings.Contains(request.SystemText(), "Belongs to the user.") {
					t.Error("a run lists a skill of the user")
				}
			}
			if !w.exists("page.html") || !strings.Contains(out, "+100 points") {
				t.Errorf("the report is\n%s", out)
			}
		})
	}
}

// TestEvaluateInterrupted interrupts an evaluation with a real agent: the finished runs stay, and only the others run
// when it continues.
func TestEvaluateInterrupted(t *testing.T) {
	for _, a := range evaluatedAgents()[:2] {
		t.Run(a.variable, func(t *testing.T) {
			t.Parallel()
			second, release := make(chan bool), make(chan bool)
			answers := 0
			model := a.model(t, func(r mockmodel.Request) {
				if len(r.Results) == 0 {
					if answers++; answers == 3 { // a judge after the first run, and the second run
						close(second)
						<-release
					}
				}
			})
			w := newEvaluation(t, a, model)
			cmd := exec.CommandContext(t.Context(), w.skillpm, "test", "greet", "--agent", a.id, "--agent-args", a.arguments,
				"--repeat", "2", "--parallel", "1", "--run", "write", "-o", "report.json")
			cmd.Dir, cmd.Env = w.project, w.env
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-second:
			case <-time.After(2 * time.Minute):
				t.Errorf("the second run does not start\n%s", &out)
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			close(release)
			if code := cmd.ProcessState.ExitCode(); code != int(diag.Interrupted) || !strings.Contains(out.String(), "1 run is finished") {
				t.Fatalf("exit code %d\n%s", code, &out)
			}
			before := len(model.Requests("main"))
			code, r, text := w.evaluateWith(a, "--repeat", "2", "--parallel", "1", "--run", "write", "--continue")
			runs := caseOf(t, r, "write", evaluate.With)
			if code != 0 || len(runs) != 2 || r.Interrupted {
				t.Errorf("exit code %d, %+v\n%s", code, runs, text)
			}
			if n := len(model.Requests("main")) - before; n != 4 { // three for the run, and one for the judge
				t.Errorf("the model got %d requests\n%s", n, text)
			}
		})
	}
}
