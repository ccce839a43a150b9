package tool_test

import (
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// TestOwnCommands proves that a restricted shell cannot run commands of skillpm that change what is allowed, however
// the command line is written, and that it can run others.
func TestOwnCommands(t *testing.T) {
	restricted := tool.Set{}.And("acme", patterns(t, "Bash, Read"))
	for _, line := range []string{
		"skillpm approve acme/deploy --reason x",
		"skillpm -C x approve acme/deploy",
		"skillpm -Cx approve acme/deploy",
		"skillpm -qC x approve acme/deploy",
		"skillpm -qvCx approve acme/deploy",
		"skillpm --directory=x --json -v approve acme/deploy",
		"skillpm --directory x --color never approve acme/deploy",
		"skillpm --config other.yaml list",
		"skillpm --config=other.yaml list",
		"skillpm list --config other.yaml",
		"skillpm --unknown approve list",
		"skillpm deny deploy --undo",
		"skillpm deny --undo=true deploy",
		"skillpm --undo deny deploy",
		"skillpm trust --undo",
		"skillpm config set min-release-age 0s",
		"skillpm config -q set min-release-age 0s",
		"skillpm config merge-driver",
		"skillpm config sync --accept",
		"skillpm policy init --scope user",
		"skillpm session end --session x",
		"skillpm log export --output policy.yaml",
		"skillpm log export --output=policy.yaml",
		"skillpm log export -opolicy.yaml",
		"skillpm log stats --html policy.yaml",
		"skillpm validate -o policy.yaml",
		"skillpm install acme/x --accept-signer acme/x",
		"skillpm i --force",
		"skillpm load x --allow-shell",
		"skillpm load x --trigger user",
		"skillpm someday",
		"skillpm config someday",
		"/usr/local/bin/skillpm trust",
		"./bin/skillpm.exe trust",
		"./skillpm-dev trust",
		"SKILLPM.EXE trust",
		`sk\illpm trust`,
		`"skill"pm trust`,
		"'skillpm' 'trust'",
		"$SKILLPM trust",
		"${SKILLPM} trust",
		"skillpm $COMMAND",
		"skillpm deny deploy $MORE",
		"skillpm deny deploy {--undo,x}",
		"skillpm deny deploy *",
		"SKILLPM_YES=1 skillpm trust",
		"A=1 B=2 skillpm trust",
		"env A=1 skillpm trust",
		"env -i PATH=/bin skillpm trust",
		"sudo -u root skillpm trust",
		"sudo -u root skillpm --config x trust",
		"nohup timeout 5 skillpm trust",
		"go run github.com/skillpm/skillpm/cmd/skillpm@latest trust",
		"go run ./cmd/skillpm trust",
		"go run -C .. ./cmd/skillpm trust",
		"true; skillpm trust",
		"true && skillpm trust &",
		"echo x | xargs skillpm approve",
		"find . -exec skillpm approve {} +",
		"sh -c 'skillpm trust'",
		`bash -lc "cd x && skillpm approve a"`,
		`sh -c "sh -c 'skillpm trust'"`,
		"eval skillpm trust",
		"eval 'skillpm trust'",
		"skillpm trust > log.txt",
		"(skillpm trust)",
		"$(skillpm trust)",
		"`skillpm trust`",
		"x=$(skillpm trust)",
		"if true; then skillpm trust; fi",
		"if true; then sk\\illpm trust; fi",
		"f() { skillpm trust; }; f",
		"skillpm tr$(echo ust)",
		"cat <<< x; skillpm trust",
		`python3 -c "import subprocess; subprocess.run(['skillpm', 'trust'])"`,
		"skillpm list # \nskillpm trust",
		"S=skillpm; $S trust",
		"alias s=/usr/bin/skillpm; s trust",
	} {
		v := restricted.Allow(bash(line))
		if v.Allowed || v.Skill != "acme" || !strings.Contains(v.Reason, "only users may run") {
			t.Errorf("%s: %+v", line, v)
		}
		if v := (tool.Set{}).Allow(bash(line)); !v.Allowed {
			t.Errorf("%s: denied without a restriction: %s", line, v.Reason)
		}
	}
	for _, line := range []string{
		"skillpm", "skillpm --version", "skillpm -V", "skillpm --help", "skillpm help approve", "skillpm config",
		"skillpm list --json", "skillpm -C x -qv list", "skillpm config get agents", "skillpm deny deploy",
		"skillpm load deploy staging --session 7f3a", "skillpm run deploy -- --undo", "skillpm log --since 7d",
		"skillpm log export --format csv", "skillpm publish --output acme.tar", "skillpm log verify", "skillpm log old.jsonl",
		"ls skillpm", "ls -la ~/.config/skillpm", "cat skillpm.yaml", "cd skillpm && ls", "git add pkg/skillpm list.go",
		"git clone https://github.com/skillpm/skillpm", "grep -r trust docs", "ls > skillpm.txt",
		"echo 'run skillpm list'", "ls skillpm -la",
	} {
		if v := restricted.Allow(bash(line)); !v.Allowed {
			t.Errorf("%s: %s", line, v.Reason)
		}
	}
}

// TestOwnCommandsInOtherTools proves that all ways to a shell are checked: other agents' tools, words without a shell,
// PowerShell, inputs that are ambiguous, restrictions that only disallow, and tools that write to a running shell.
func TestOwnCommandsInOtherTools(t *testing.T) {
	all := tool.Set{}.And("acme", patterns(t, "Bash, PowerShell, write_stdin"))
	without := tool.Set{}.Without("acme", patterns(t, "Write"))
	for _, c := range []tool.Call{
		{Tool: "run_shell_command", Input: map[string]any{"command": "skillpm trust"}},
		{Tool: "shell", Input: map[string]any{"command": []any{"skillpm", "trust"}}},
		{Tool: "shell", Input: map[string]any{"command": []any{"bash", "-lc", "skillpm trust"}}},
		{Tool: "shell", Input: map[string]any{"command": []any{"bash", "-x", "-c", "skillpm trust"}}},
		{Tool: "PowerShell", Input: map[string]any{"command": `C:\bin\skillpm.exe trust`}},
		{Tool: "PowerShell", Input: map[string]any{"command": `& "C:\my bin\skillpm.exe" trust`}},
		{Tool: "run_shell_command", Input: map[string]any{"command": "skillpm trust"}, Windows: true},
		{Tool: "Bash", Input: map[string]any{"command": "skillpm trust", "env": map[string]any{"A": "b"}}},
		{Tool: "Bash", Input: map[string]any{"command": "true", "cmd": "skillpm trust"}},
		{Tool: "write_stdin", Input: map[string]any{"chars": "skillpm trust\n"}},
	} {
		for name, set := range map[string]tool.Set{"allow": all, "disallow": without} {
			if v := set.Allow(c); v.Allowed || !strings.Contains(v.Reason, `"skillpm trust"`) {
				t.Errorf("%s: %v: %+v", name, c, v)
			}
		}
	}
	if v := all.Allow(tool.Call{Tool: "Bash", Input: map[string]any{"command": "skillpm list", "env": map[string]any{"A": "b"}}}); !v.Allowed {
		t.Error(v.Reason)
	}
}
