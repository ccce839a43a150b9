package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// setting is a way to protect a project.
type setting struct {
	name     string
	declared bool // the skill declares allowed-tools
	scripts  bool // and allows interpreters only for its own files
	strict   bool // the policy is the preset strict
	approved bool // a person approved the skill
}

func settings() []setting {
	return []setting{
		{name: "default settings"},
		{name: "`allowed-tools`: programs", declared: true},
		{name: "`allowed-tools`: own scripts", declared: true, scripts: true},
		{name: "preset strict", strict: true},
		{name: "strict, approved unread", strict: true, approved: true},
	}
}

// reviewed is the setting for a skill that is unchanged since its review.
func (s setting) reviewed() setting {
	s.approved = s.strict
	return s
}

// play runs a session of Claude Code in which a skill is activated. The skill's own files are used unless others are
// given. The function say reports whether a call runs; the empty call stands for an answer of the model. Without the
// skill's text, the model does not know about the attack, and nothing runs.
func (b *bench) play(ctx context.Context, s setting, skill cleanSkill, files map[string][]byte,
	script func(say func(call) (bool, error)) error,
) error {
	if files == nil {
		files = skill.files
	}
	if err := b.prepare(ctx, s, skill, files); err != nil {
		return err
	}
	n := 0
	send := func(event string, c call) (bool, error) {
		n++
		return b.sendEvent(ctx, event, n, c)
	}
	activate := call{"Skill", map[string]any{"skill": skill.name}}
	active, err := send("PreToolUse", activate)
	if err == nil && active {
		_, err = send("PostToolUse", activate)
	}
	if err != nil {
		return err
	}
	return script(func(c call) (bool, error) {
		if !active || c.Tool == "" {
			return active, nil
		}
		return send("PreToolUse", c)
	})
}

// prepare writes a project with the skill, and what the setting needs.
func (b *bench) prepare(ctx context.Context, s setting, skill cleanSkill, files map[string][]byte) error {
	home, project := b.home("ours"), b.project("ours")
	if err := b.fresh(home, project, filepath.Join(project, ".git")); err != nil {
		return err
	}
	root := path.Join(".claude/skills", skill.name)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		data := files[name]
		if name == "SKILL.md" && s.declared {
			data = withTools(data, skill.declared(s.scripts))
		}
		file := filepath.Join(project, filepath.FromSlash(path.Join(root, name)))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return err
		}
	}
	skillpm := func(args ...string) error {
		_, err := output(ctx, project, b.environ("ours"), b.tools.skillpm.path, args...)
		return err
	}
	if s.strict {
		if err := skillpm("policy", "init", "--preset", "strict"); err != nil {
			return err
		}
	}
	if s.approved {
		return skillpm("approve", skill.title, "--reason", "approved")
	}
	return nil
}

// sendEvent sends a hook event of Claude Code to skillpm, and reports whether the call runs.
func (b *bench) sendEvent(ctx context.Context, event string, n int, c call) (bool, error) {
	project := b.project("ours")
	if name, ok := c.Input["file_path"].(string); ok {
		c.Input = maps.Clone(c.Input)
		c.Input["file_path"] = filepath.Join(project, filepath.FromSlash(name))
	}
	fields := map[string]any{
		"session_id": "bench", "cwd": project, "hook_event_name": event, "permission_mode": "bypassPermissions",
		"tool_name": c.Tool, "tool_input": c.Input, "tool_use_id": fmt.Sprint("call-", n),
	}
	if event == "PostToolUse" {
		fields["tool_response"] = map[string]any{"success": true, "commandName": c.Input["skill"]}
	}
	input, err := json.Marshal(fields)
	if err != nil {
		return false, err
	}
	cmd := exec.CommandContext(ctx, b.tools.skillpm.path, "hook", event, "--agent", "claude-code")
	cmd.Dir, cmd.Env, cmd.Stdin = project, b.environ("ours"), bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	answer, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("skillpm hook: %w: %s", err, stderr.String())
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return true, nil
	}
	var reply struct {
		HookSpecificOutput struct {
			PermissionDecision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return false, fmt.Errorf("skillpm hook: %w", err)
	}
	return reply.HookSpecificOutput.PermissionDecision != "deny", nil
}
