package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// SPEC O23: the rows of the runtime, for as many skills as are installed.

// measuredSkill is the skill that rows of the runtime ask for.
func (p benchPack) measuredSkill() string { return p.skillName(p.Skills / 2) }

// serving returns a run of skillpm in a project that has a pack installed, and whose skills were looked for before.
// What it prints has to have a text in it.
func (b *bench) serving(ctx context.Context, p benchPack, want string, args ...string) (contestant, error) {
	installed, _, _ := coldOCI(ctx, b, p)
	if err := b.runOnce(ctx, installed); err != nil {
		return contestant{}, err
	}
	j := b.job("ours", b.project("ours"), append([]string{b.tools.skillpm.path}, args...))
	c := contestant{title: "skillpm " + args[0], job: j, after: func() error {
		output, err := os.ReadFile(j.Log)
		if err == nil && !strings.Contains(string(output), want) {
			err = fmt.Errorf("the output does not contain %q: %.500s", want, output)
		}
		return err
	}}
	return c, b.runOnce(ctx, c)
}

func servePrompt(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	c, err := b.serving(ctx, p, p.skillName(0), "prompt", "--budget", "1000000")
	return c, contestant{}, err
}

// serveFirst has no index of the skills, as after an installation on a new machine.
func serveFirst(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	c, theirs, err := servePrompt(ctx, b, p)
	c.before = func() error { return os.RemoveAll(filepath.Join(b.home("ours"), ".cache", "skillpm", "catalog")) }
	return c, theirs, err
}

func serveLoad(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	c, err := b.serving(ctx, p, p.measuredSkill(), "load", p.measuredSkill())
	return c, contestant{}, err
}

func serveWhich(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	c, err := b.serving(ctx, p, p.measuredSkill(), "which", p.measuredSkill())
	return c, contestant{}, err
}

func serveFind(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	w := newWriter(uint64(p.Skills))
	task := w.sentence() // the first skill's description begins with it
	c, err := b.serving(ctx, p, p.skillName(0), "find", strings.TrimSuffix(task, "."))
	return c, contestant{}, err
}

// serveAllow asks whether a tool may be called while a skill is active.
func serveAllow(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	const session = "bench"
	c, err := b.serving(ctx, p, "", "session", "allow", "Read", "--session", session)
	if err == nil {
		active := c
		active.job = b.job("ours", b.project("ours"), []string{
			b.tools.skillpm.path, "load", p.measuredSkill(), "--session",
			session,
		})
		err = b.runOnce(ctx, active)
	}
	c.title = "skillpm session allow"
	return c, contestant{}, err
}

// serveHook answers the hook of an agent that calls a tool while a skill is active.
func serveHook(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	const event = `{"session_id":"bench","hook_event_name":"PreToolUse","tool_name":"Read",` +
		`"tool_input":{"file_path":"README.md"},"tool_use_id":"1"}`
	c, _, err := serveAllow(ctx, b, p)
	if err != nil {
		return c, contestant{}, err
	}
	input := filepath.Join(b.dir, "event.json")
	if err := os.WriteFile(input, []byte(event+"\n"), 0o600); err != nil {
		return c, contestant{}, err
	}
	c.title = "skillpm hook"
	c.job = b.job("ours", b.project("ours"), []string{
		"sh", "-c", `exec "$0" hook PreToolUse --agent claude-code <"$1"`,
		b.tools.skillpm.path, input,
	})
	c.after = func() error {
		output, err := os.ReadFile(c.job.Log)
		if err == nil && len(output) > 0 {
			err = fmt.Errorf("the hook answered a call that the skill allows: %.500s", output)
		}
		return err
	}
	return c, contestant{}, b.runOnce(ctx, c)
}

// serveMCP starts the server, and asks what a client asks first. The end of the input ends it after its reply.
func serveMCP(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	const first = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`
	c, err := b.serving(ctx, p, "", "which", p.measuredSkill()) // installs the pack, and looks for its skills
	if err != nil {
		return c, contestant{}, err
	}
	input := filepath.Join(b.dir, "initialize.json")
	if err := os.WriteFile(input, []byte(first+"\n"), 0o600); err != nil {
		return c, contestant{}, err
	}
	c.title = "skillpm mcp"
	c.job = b.job("ours", b.project("ours"), []string{"sh", "-c", `exec "$0" mcp <"$1"`, b.tools.skillpm.path, input})
	c.after = func() error {
		output, err := os.ReadFile(c.job.Log)
		if err == nil && !strings.Contains(string(output), p.skillName(0)) {
			err = fmt.Errorf("the instructions do not contain %q: %.500s", p.skillName(0), output)
		}
		return err
	}
	return c, contestant{}, b.runOnce(ctx, c)
}
