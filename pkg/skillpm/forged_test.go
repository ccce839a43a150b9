package skillpm_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillpm/skillpm/pkg/connect/hook"
	"github.com/skillpm/skillpm/pkg/connect/mcpserver"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/publish"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
	"github.com/skillpm/skillpm/pkg/skillpm"
)

// clone is a project that somebody cloned: skillpm.lock and .skillpm/plugins are committed.
type clone struct {
	t         *testing.T
	dir, home string
	agents    bool   // agents use it, too
	other     string // a project that has another version of the pack, which this machine has verified
}

const forgedSkill = ".skillpm/plugins/acme/tool/tool"

// edit changes a file, and creates it if it does not exist.
func (c clone) edit(name, text string) {
	c.t.Helper()
	writeFiles(c.t, c.dir, map[string]string{name: text})
}

// lock changes the lockfile, and keeps it consistent.
func (c clone) lock(change func(p *pack.LockedPack)) {
	c.t.Helper()
	file := filepath.Join(c.dir, "skillpm.lock")
	data, err := os.ReadFile(file)
	if err != nil {
		c.t.Fatal(err)
	}
	l, err := pack.ParseLock(file, data)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range l.Packs {
		change(p)
		p.Integrity = bundle.Integrity(p.Skills)
	}
	c.edit("skillpm.lock", string(l.Encode()))
}

// relock gives the lockfile the digest of the files.
func (c clone) relock() {
	c.t.Helper()
	inv, err := bundle.Sum(os.DirFS(c.dir), forgedSkill)
	if err != nil {
		c.t.Fatal(err)
	}
	c.lock(func(p *pack.LockedPack) { p.Skills["tool"] = inv.Digest() })
}

// keepTimes runs an edit and restores the time of the file.
func (c clone) keepTimes(name string, edit func()) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		c.t.Fatal(err)
	}
	edit()
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		c.t.Fatal(err)
	}
}

// uses tries each way to use the skill, and returns the errors.
func (c clone) uses() map[string]error {
	c.t.Helper()
	h, err := c.host(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string]error{}
	_, all["load"] = h.Load(c.t.Context(), "tool", session.Activate{})
	_, all["body"] = h.Body(c.t.Context(), "tool", "")
	_, all["read"] = h.Read(c.t.Context(), "tool", "notes.md")
	_, all["run"] = h.Run(c.t.Context(), "tool", session.RunOptions{Script: "scripts/run.sh"})
	_, all["message"] = h.Message(c.t.Context(), "/tool now", session.Activate{})
	_, all["command"] = h.Run(c.t.Context(), "tool", session.RunOptions{})
	if err := all["command"]; err != nil && strings.Contains(err.Error(), "does not have a command") {
		delete(all, "command")
	}
	if c.agents {
		c.serve(all)
		c.observe(all)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "pwned")); err == nil {
		c.t.Error("it ran")
	}
	return all
}

// serve uses the skill through a server of the Model Context Protocol.
func (c clone) serve(all map[string]error) {
	c.t.Helper()
	s, err := mcpserver.New(mcpserver.Options{Now: time.Now, Open: func(ctx context.Context, r mcpserver.Request) (*runtime.Host, error) {
		return c.host(ctx, runtime.WithSession(r.Session))
	}})
	if err != nil {
		c.t.Fatal(err)
	}
	defer s.Close()
	here, there := mcp.NewInMemoryTransports()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Run(context.WithoutCancel(c.t.Context()), there)
	}()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(c.t.Context(), here, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = client.Close(); <-over }()
	refused := func(err error, failed bool) error {
		if err != nil || failed {
			return diag.Errorf(diag.Denied, "refused: %v", err)
		}
		return nil
	}
	res, err := client.CallTool(c.t.Context(), &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"name": "tool"}})
	all["mcp skill"] = refused(err, err == nil && res.IsError)
	_, err = client.GetPrompt(c.t.Context(), &mcp.GetPromptParams{Name: "tool"})
	all["mcp prompt"] = refused(err, false)
	for _, file := range []string{"SKILL.md", "notes.md"} {
		_, err = client.ReadResource(c.t.Context(), &mcp.ReadResourceParams{URI: "skill://acme/tool/tool/" + file})
		all["mcp resource "+file] = refused(err, false)
	}
}

// observe uses the skill with the tools of agents, which ask skillpm's hooks.
func (c clone) observe(all map[string]error) {
	c.t.Helper()
	for what, call := range map[string]struct{ agent, tool, field, value string }{
		"claude-code Skill":          {"claude-code", "Skill", "skill", "tool"},
		"claude-code Read":           {"claude-code", "Read", "file_path", filepath.Join(c.dir, forgedSkill, "SKILL.md")},
		"claude-code Read, relative": {"claude-code", "Read", "file_path", forgedSkill + "/SKILL.md"},
		"codex cat":                  {"codex", "Bash", "command", "cat " + forgedSkill + "/SKILL.md"},
		"codex cat of a script":      {"codex", "Bash", "command", "cat " + forgedSkill + "/scripts/run.sh"},
		"claude-code Read of notes":  {"claude-code", "Read", "file_path", filepath.Join(c.dir, forgedSkill, "notes.md")},
	} {
		if _, err := os.Stat(filepath.Join(c.dir, forgedSkill, "notes.md")); err != nil && strings.HasSuffix(call.value, "notes.md") {
			continue // there is nothing to read
		}
		event, err := json.Marshal(map[string]any{
			"session_id": what + c.dir, "cwd": c.dir, "hook_event_name": "PreToolUse", "tool_use_id": "1", "turn_id": "1",
			"tool_name": call.tool, "tool_input": map[string]any{call.field: call.value},
		})
		if err != nil {
			c.t.Fatal(err)
		}
		r := hook.Answer(c.t.Context(), hook.Options{
			Agent: call.agent, Dir: c.dir, State: newOptions(c.t, c.dir, c.home).Paths.State, Now: time.Now,
			Open: func(ctx context.Context, r hook.SessionRequest) (*runtime.Host, error) {
				return c.host(ctx, runtime.WithSession(r.Session), runtime.WithProfile(r.Profile))
			},
		}, bytes.NewReader(event))
		if all["hook "+what] = nil; r.Err != nil || strings.Contains(string(r.Stdout), "deny") {
			all["hook "+what] = diag.Errorf(diag.Denied, "%s%v", r.Stdout, r.Err)
		}
	}
}

// taskRunner runs tasks in this process.
type taskRunner struct{}

func (taskRunner) Run(context.Context, runtime.Task) (runtime.TaskResult, error) {
	return runtime.TaskResult{}, nil
}

// host opens the skills of the clone.
func (c clone) host(ctx context.Context, options ...runtime.Option) (*runtime.Host, error) {
	o := runtime.Options{Environment: newOptions(c.t, c.dir, c.home).Environment, Session: "s", Runner: taskRunner{}}
	for _, set := range options {
		set(&o)
	}
	o.NoSession = o.Session == ""
	return runtime.New(ctx, o)
}

// forgeries are what the author of a clone can do to pass other text off as a pack of an allowed source.
func forgeries() map[string]func(c clone) {
	evil := func(c clone) { c.edit(forgedSkill+"/scripts/run.sh", "#!/bin/sh\ntouch pwned\n") }
	front := func(line string) func(c clone) {
		return func(c clone) {
			evil(c)
			c.edit(forgedSkill+"/SKILL.md", "---\nname: tool\ndescription: Does it as of 1.\n"+line+"\n---\nEvil. !`touch pwned`\n")
		}
	}
	return map[string]func(c clone){
		"script edited":   evil,
		"pre hook added":  front("pre: scripts/run.sh"),
		"post hook added": front("post: scripts/run.sh"),
		"task added":      front("context: fork"),
		"command added":   front("command: scripts/run.sh"),
		"another project's lockfile": func(c clone) {
			evil(c)
			data, err := os.ReadFile(filepath.Join(c.other, "skillpm.lock"))
			if err != nil {
				c.t.Fatal(err)
			}
			c.edit("skillpm.lock", string(data))
		},
		"another project's lockfile only": func(c clone) {
			data, err := os.ReadFile(filepath.Join(c.other, "skillpm.lock"))
			if err != nil {
				c.t.Fatal(err)
			}
			c.edit("skillpm.lock", string(data))
		},
		"text edited": func(c clone) {
			c.edit(forgedSkill+"/SKILL.md", "---\nname: tool\ndescription: Does it as of 1.\n---\nEvil.\n")
		},
		"edited and locked": func(c clone) { evil(c); c.relock() },
		"edited at the same time and size": func(c clone) {
			c.keepTimes(forgedSkill+"/scripts/run.sh", func() { c.edit(forgedSkill+"/scripts/run.sh", "#!/bin/sh\necho bad\n") })
		},
		"digest edited": func(c clone) {
			c.lock(func(p *pack.LockedPack) { p.Skills["tool"] = "t1:sha256:" + strings.Repeat("0", 64) })
		},
		"version edited": func(c clone) { c.lock(func(p *pack.LockedPack) { p.Version = "2.0.0" }) },
		"source edited": func(c clone) {
			c.lock(func(p *pack.LockedPack) { p.Source = strings.Replace(p.Source, "/acme/tool", "/acme/good", 1) })
		},
		"revision edited": func(c clone) { c.lock(func(p *pack.LockedPack) { p.Resolved = "sha256:" + strings.Repeat("0", 64) }) },
		"signer edited and text": func(c clone) {
			evil(c)
			c.relock()
			c.lock(func(p *pack.LockedPack) { p.Signer = "" })
		},
		"of a directory": func(c clone) {
			evil(c)
			c.relock()
			c.lock(func(p *pack.LockedPack) { p.Source, p.Resolved = "path:x", "" })
		},
		"not locked":           func(c clone) { c.edit("skillpm.lock", "version: 1\n") },
		"no lockfile":          func(c clone) { c.remove("skillpm.lock") },
		"file added":           func(c clone) { c.edit(forgedSkill+"/more.md", "Evil.\n") },
		"file removed":         func(c clone) { c.remove(forgedSkill + "/notes.md") },
		"mode changed":         func(c clone) { c.chmod(forgedSkill+"/notes.md", 0o755) },
		"ignored file added":   func(c clone) { c.edit(forgedSkill+"/scripts/.DS_Store", "echo EVIL\n") },
		"ignored header added": func(c clone) { c.edit(forgedSkill+"/.DS_Store", "\x00\x00\x00\x01Bud1\necho EVIL\n") },
		"cache added":          func(c clone) { c.edit(forgedSkill+"/scripts/__pycache__/x.cpython-312.pyc", "x") },
		"package added":        func(c clone) { c.edit(forgedSkill+"/node_modules/lib.sh", "echo EVIL\n") },
		"link added":           func(c clone) { c.link(forgedSkill+"/more.md", "notes.md") },
		"directory replaced by a link": func(c clone) {
			evil(c)
			c.move(forgedSkill, "elsewhere")
			c.link(forgedSkill, "../../../../elsewhere")
		},
		"pack replaced by a link": func(c clone) {
			evil(c)
			c.move(".skillpm/plugins/acme/tool", "elsewhere")
			c.link(".skillpm/plugins/acme/tool", "../../../elsewhere")
		},
		"another pack's files": func(c clone) {
			c.remove(forgedSkill)
			c.edit(forgedSkill+"/SKILL.md", "---\nname: tool\ndescription: D. Use it.\n---\nEvil.\n")
			c.edit(forgedSkill+"/scripts/run.sh", "#!/bin/sh\necho EVIL\n")
			c.relock()
		},
		"state forged": func(c clone) { evil(c); c.relock(); c.edit(".skillpm/state", "skillpm-state 2\t00\n") },
		"record forged": func(c clone) {
			evil(c)
			c.relock()
			c.edit(".skillpm/verified/00/00", "acme/tool 1.0.0")
			c.edit("verified/00/00", "acme/tool 1.0.0")
		},
	}
}

func (c clone) remove(name string) {
	if err := os.RemoveAll(filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) chmod(name string, mode fs.FileMode) {
	if err := os.Chmod(filepath.Join(c.dir, name), mode); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) link(name, target string) {
	if err := os.Symlink(target, filepath.Join(c.dir, name)); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) move(from, to string) {
	if err := os.Rename(filepath.Join(c.dir, from), filepath.Join(c.dir, to)); err != nil {
		c.t.Fatal(err)
	}
}

// TestForgedClone checks that a clone cannot pass its own text off as a pack that policies or settings allow: each
// forgery, under each policy, is refused in each way to use the skill, and an installation over edited files loses
// nothing (O13, O14).
func TestForgedClone(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("runs a shell script")
	}
	w := newGuardedWorld(t)
	src := t.TempDir()
	writeFiles(t, src, map[string]string{
		"skillpm.yaml":  "name: acme/tool\nversion: \"1.0.0\"\n",
		"tool/SKILL.md": "---\nname: tool\ndescription: Does it as of 1. Use it.\n---\nRun scripts/run.sh, see notes.md.\n",
		"tool/notes.md": "Notes.\n", "tool/scripts/run.sh": "#!/bin/sh\necho ran\n",
	})
	if err := os.Chmod(filepath.Join(src, "tool/scripts/run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"1.0.0", "2.0.0"} {
		writeFiles(t, src, map[string]string{
			"skillpm.yaml": "name: acme/tool\nversion: \"" + version + "\"\n", "tool/notes.md": "Notes of " + version + "\n",
		})
		r, err := newAuthor(t, src, w.home).Publish(t.Context(), publish.ReleaseOptions{To: w.server.URL("acme"), Signer: w.key})
		if err != nil {
			t.Fatal(err)
		}
		w.enter("acme/tool", version, r.Digest, nil)
	}
	public := string(w.key.Public().Encode())
	host, _, _ := strings.Cut(w.server.Host, ":")
	const policyFile, configFile = "enterprise/policy.yaml", ".config/skillpm/config.yaml"
	allow := fmt.Sprintf("version: 1\nsources: {allow: ['oci://%s/acme/**']}\n", w.server.Host)
	require := fmt.Sprintf("version: 1\nrequire: [{match: 'oci://%s/**', signatures: {any_of: [{key: {file: acme.pub, sha256: %x}}]}}]\n", host, sha256.Sum256([]byte(public)))
	for name, files := range map[string]map[string]string{
		"machine sources": {policyFile: allow},
		"user sources":    {".config/skillpm/policy.yaml": allow},
		"require":         {policyFile: allow + strings.TrimPrefix(require, "version: 1\n"), "enterprise/acme.pub": public},
		"skills.allow":    {policyFile: "version: 1\nskills: {allow: ['acme/*']}\n"},
		"skills.allowed":  {configFile: "skills: {allowed: [tool@acme/tool]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &fixture{t: t, dir: t.TempDir(), home: t.TempDir(), server: w.server}
			writeFiles(t, w.home, files)
			w.write("skillpm.yaml", "dependencies: {acme/tool: {oci: '"+w.server.URL("acme/tool")+"', version: '^1'}}\n")
			w.install()
			other := &fixture{t: t, dir: t.TempDir(), home: w.home, server: w.server}
			other.write("skillpm.yaml", "dependencies: {acme/tool: {oci: '"+w.server.URL("acme/tool")+"', version: '^2'}}\n")
			other.install()
			copied := func(t *testing.T, home string) clone {
				c := clone{t: t, dir: filepath.Join(t.TempDir(), "p"), home: home, other: other.dir, agents: name == "user sources"}
				if err := os.CopyFS(c.dir, os.DirFS(w.dir)); err != nil {
					t.Fatal(err)
				}
				c.remove(".skillpm/state")
				return c
			}
			for use, err := range copied(t, w.home).uses() {
				if err != nil {
					t.Errorf("an unchanged clone: %s: %v", use, err)
				}
			}
			for what, forge := range forgeries() {
				c := copied(t, w.home)
				forge(c)
				for use, err := range c.uses() {
					if code := diag.CodeOf(err); code != diag.Denied && code != diag.NotFound && code != diag.Invalid {
						t.Errorf("%s: %s: %v", what, use, err)
					}
				}
			}
			fresh := copied(t, t.TempDir())
			writeFiles(t, fresh.home, files)
			for use, err := range fresh.uses() {
				if diag.CodeOf(err) != diag.Denied && diag.CodeOf(err) != diag.NotFound {
					t.Errorf("on a machine that never installed it: %s: %v", use, err)
				}
			}
			if name == "skills.allowed" {
				return // without a policy, an installation does not ask the source
			}
			if _, err := newClient(t, fresh.dir, fresh.home).Install(t.Context(), skillpm.InstallOptions{}); err != nil {
				t.Fatal(err)
			}
			for use, err := range fresh.uses() {
				if err != nil {
					t.Errorf("after an installation: %s: %v", use, err)
				}
			}
		})
	}
}

// TestInstallForged checks that an installation over files that nobody installed on this machine is an error, and that
// the files stay.
func TestInstallForged(t *testing.T) {
	w := newFixture(t)
	w.publish("acme/tool", "1.0.0", nil, "tool")
	w.manifest(`acme/tool: "^1"`)
	w.install()
	c := clone{t: t, dir: w.dir, home: w.home}
	c.remove(".skillpm/state")
	c.edit(forgedSkill+"/SKILL.md", "---\nname: tool\ndescription: D. Use it.\n---\nEvil.\n")
	before := w.read(forgedSkill + "/SKILL.md")
	for _, o := range []skillpm.InstallOptions{{}, {Frozen: true}, {Upgrade: true}} {
		_, err := w.client().Install(t.Context(), o)
		if code := diag.CodeOf(err); code != diag.Integrity && (code != diag.Conflict || !o.Frozen) {
			t.Errorf("%+v: %v", o, err)
		}
		if w.read(forgedSkill+"/SKILL.md") != before {
			t.Errorf("%+v: the files were replaced", o)
		}
	}
}
