package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/policy/audit"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill/tool"
)

// Verdict is the decision about a tool call.
type Verdict struct {
	tool.Verdict
	Session   string   // id of the session, "" for none
	ReadOnly  bool     // denied because the call would write into a skill's directory or into skillpm's own files
	Protected bool     // with ReadOnly: the files are skillpm's own
	Denied    bool     // denied because a policy now denies a skill that is active, or because its pre hook failed
	Instead   []string // the tools that the active skills allow, if their lists deny the call
	Known     bool     // the session has state: a skill was activated in it
	Stack     []string // names of the active skills
	Notes     []string // what the user should know, such as active skills whose files changed
}

// Err returns a denial as a [DeniedError], nil if the call is allowed.
func (v Verdict) Err() error {
	if v.Allowed {
		return nil
	}
	return &DeniedError{v}
}

// insteadText suggests the tools that are allowed.
func insteadText(tools []string) string {
	for i, entry := range tools {
		if strings.HasPrefix(entry, "-") { // the disallowed ones follow
			tools = tools[:i]
			break
		}
	}
	if len(tools) == 0 {
		return "continue without this tool"
	}
	return "use only the allowed tools: " + strings.Join(tools, ", ")
}

// Allow decides whether a tool may be called now: every active skill must allow it. Without an active skill, every tool
// is allowed. A denial is recorded. After an error the call must not go ahead.
func (s *Session) Allow(ctx context.Context, c tool.Call) (Verdict, error) {
	if err := ctx.Err(); err != nil {
		return Verdict{}, err
	}
	if c.Tool == "" {
		return Verdict{}, diag.Errorf(diag.Usage, "the name of the tool is missing").
			WithHint("pass the agent's name for the tool, such as Bash")
	}
	state, err := s.State()
	if err != nil {
		return Verdict{},
			s.recordFailure(err, audit.Record{
				Action: audit.Refuse, Result: audit.Denied, Tool: c.Tool,
				Reason: err.Error(),
			}, nil)
	}
	v := Verdict{
		Verdict: tool.Verdict{Allowed: true, Tool: c.Tool}, Session: s.id, Known: state.Known(),
		Stack: state.Names(),
	}
	if len(state.Active) > 0 {
		s.folder.touch(s.id)
	}
	if s.checkActivePolicies(&v, state); v.Allowed && !s.isSkillTool(c.Tool) {
		placed := s.withDirectories(c)
		placed.OwnFile = func(path string, tree bool) bool { return s.isOwnFile(state, path, tree) }
		set := s.toolSet(state.Active)
		if v.Verdict = set.Allow(placed); v.Allowed {
			s.checkWrites(&v, state, placed)
		} else {
			v.Reason = fmt.Sprintf("Tool '%s' not allowed by active skill '%s': %s", c.Tool, v.Skill, v.Reason)
			v.Instead = set.Entries()
		}
	}
	for _, a := range state.Active {
		if note := a.Drift(); note != "" {
			v.Notes = append(v.Notes, note)
		}
	}
	if !v.Allowed {
		r := audit.Record{Action: audit.Refuse, Result: audit.Denied, Tool: c.Tool, Reason: v.Reason}
		var k *catalog.Skill
		if i := state.find(v.Skill); v.Skill != "" && i >= 0 {
			r.Digest, k = state.Active[i].Digest, state.Active[i].skill()
		}
		v.Notes = append(v.Notes, s.record(r, k)...)
	}
	return v, nil
}

// checkActivePolicies denies every call if a policy denies a skill that is active, or if the pre hook of one has
// failed. Only the call that ends a skill stays allowed.
func (s *Session) checkActivePolicies(v *Verdict, state State) {
	if part, _ := tool.OfSkills(v.Tool); part == tool.End {
		return
	}
	for _, a := range state.Active {
		if a.Failed != "" {
			v.Allowed, v.Denied, v.Skill = false, true, a.Exact()
			v.Reason = fmt.Sprintf("do not follow the instructions of skill %s: %s", a.Exact(), a.Failed)
			return
		}
		if s.env.Guard == nil {
			continue
		}
		if err := s.env.Guard.Standing(a); err != nil {
			v.Allowed, v.Denied, v.Skill = false, true, a.Exact()
			v.Reason = fmt.Sprintf("skill %s is active but no longer allowed, so skillpm denies %s: %v", a.Exact(),
				v.Tool, err)
			return
		}
	}
}

// checkWrites denies a call that writes into the directory of an active skill, into a pack, or into skillpm's own
// files, or to an unknown path, even if the skills' tool lists allow it.
func (s *Session) checkWrites(v *Verdict, state State, c tool.Call) {
	guarded := slices.Concat(s.env.ReadOnly, s.env.Protected)
	for _, a := range state.Active {
		guarded = append(guarded, a.Dir, a.Real)
	}
	c.Aliases = aliases(guarded)
	w := c.Written()
	for _, a := range state.Active {
		if path, _ := w.Below([]string{a.Dir, a.Real}); path != "" {
			v.Allowed, v.ReadOnly, v.Skill = false, true, a.Exact()
			v.Reason = fmt.Sprintf("%s would change %q of skill %s, whose directory is read-only for agents", c.Tool,
				path, a.Exact())
			return
		}
	}
	if path, dir := w.Below(s.env.ReadOnly); path != "" {
		v.Allowed, v.ReadOnly = false, true
		v.Reason = fmt.Sprintf("%s would change %q, but skills in %s are read-only for agents", c.Tool, path, dir)
		return
	}
	if path, _ := w.Below(s.env.Protected); path != "" {
		v.Allowed, v.ReadOnly, v.Protected = false, true, true
		v.Reason = fmt.Sprintf("%s would change %q, but skillpm's settings and data are read-only for agents", c.Tool, path)
		return
	}
	if path, reason := w.Unclear(); reason != "" && len(s.env.ReadOnly)+len(s.env.Protected)+len(state.Active) > 0 {
		v.Allowed, v.ReadOnly, v.Protected = false, true, true
		v.Reason = fmt.Sprintf("%s would change %q, but skillpm cannot check where that is: %s", c.Tool, path, reason)
	}
}

// isOwnFile reports whether an absolute path is a file of an active skill that the profile lets a model read, or with
// tree a directory of which it lets a model read every file.
func (s *Session) isOwnFile(state State, file string, tree bool) bool {
	real := realPath(filepath.FromSlash(file)) // an agent's directory may link to the skill
	for _, a := range state.Active {
		if rel, ok := pathx.Rel(a.Real, real); ok && real != "" {
			return s.checkReadable(a.skill(), filepath.ToSlash(rel)) == nil &&
				(!tree || s.checkReadable(a.skill(), "scripts/any") == nil)
		}
	}
	return false
}

// toolSet returns the tools that all of these skills allow, by their tool lists at activation. If a policy makes lists
// grant tools, `allowed-tools` restricts nothing and only `disallowed-tools` does.
func (s *Session) toolSet(active []Active) tool.Set {
	return toolSetOf(active, s.env.Guard != nil && s.env.Guard.Grants())
}

func toolSetOf(active []Active, grants bool) (s tool.Set) {
	for _, a := range active {
		// Activation has parsed both lists, so only a changed state file can have invalid ones. It allows no tools
		// then.
		patterns, err := tool.ParseList(a.Allowed)
		forbidden, bad := tool.ParseList(a.Disallowed)
		if a.Restricts && !grants || err != nil || bad != nil {
			if err != nil || bad != nil {
				patterns = nil
			}
			s = s.And(a.Exact(), patterns)
		}
		if len(forbidden) > 0 {
			s = s.Without(a.Exact(), forbidden)
		}
	}
	return s
}

// Tools returns the tools that all active skills allow, if no policy makes tool lists grant tools.
func (s State) Tools() tool.Set { return toolSetOf(s.Active, false) }

// Tools returns the tools that the skills of a state allow in this session.
func (s *Session) Tools(state State) tool.Set { return s.toolSet(state.Active) }

// checkHook returns why a hook must not run: the tool restrictions of another active skill forbid the command.
func (s *Session) checkHook(h hook) error {
	argv := scriptLine(h.dir, h.script, nil)
	v := s.toolSet(h.others).Allow(s.withDirectories(tool.Call{Tool: "Bash", Input: map[string]any{"command": argv}}))
	if v.Allowed {
		return nil
	}
	return diag.Errorf(diag.Denied, "the %s hook of skill %q may not run now: %s", h.kind, h.skill.Name, v.Reason).
		WithHint("end skill %s when its work is done", v.Skill)
}

// scriptLine returns the command line of a script for a check of tool lists: without the interpreter, because that
// depends on the machine.
func scriptLine(dir, script string, args []string) []string {
	return append([]string{filepath.Join(dir, filepath.FromSlash(script))}, args...)
}

// isSkillTool reports whether a tool is one of those that agents use skills with, under skillpm's name or the
// profile's. They are always allowed: otherwise a skill could not be ended, nor its files read.
func (s *Session) isSkillTool(name string) bool {
	p := s.env.Profile
	if p == nil || name == "" || (name != p.Trigger.Skill.Name && name != p.Trigger.File.Name &&
		name != p.Trigger.Find.Name) {
		return tool.Own(name)
	}
	known := slices.ContainsFunc(tool.Table(), func(t tool.Tool) bool { return t.Name == tool.Canonical(name) })
	return tool.Own(name) || !known
}

// realPath resolves the links of an absolute path. It returns "" if that fails, and the path of a link whose target
// depends on the process.
func realPath(path string) string { return realPathIn(&pathx.Snapshot{}, path) }

func realPathIn(disk *pathx.Snapshot, path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	real, _, err := disk.Follow(path)
	if err != nil && !errors.Is(err, pathx.ErrProcess) {
		return ""
	}
	return real
}

// withDirectories fills in the directories that patterns of files depend on.
func (s *Session) withDirectories(c tool.Call) tool.Call {
	if c.Project == "" {
		c.Project = s.project()
	}
	c.First = s.env.Dir
	c.Dir = cmp.Or(c.Dir, s.env.Dir)
	if c.Home == "" {
		c.Home = s.env.Paths.Home
	}
	if c.Real == nil {
		var disk pathx.Snapshot // a call may have thousands of texts
		c.Real = func(path string) string { return realPathIn(&disk, path) }
	}
	if c.Find == nil {
		c.Find = func(names []string) ([]string, bool) { return findSuffix(c.Project, c.Dir, names) }
	}
	c.Windows = c.Windows || s.env.OS == "windows"
	return c
}

// aliases returns a function for [tool.Call], which finds paths of protected files by what the system has there.
func aliases(protected []string) func(string) []string {
	var infos map[string]fs.FileInfo // of the protected paths, or the nearest directories above that exist
	seen := map[string][]string{}    // the protected paths of each file
	look := func(file string) (same []string, exists bool) {
		info, err := os.Lstat(file)
		for p, of := range infos {
			if err == nil && p != file && os.SameFile(info, of) {
				same = append(same, filepath.ToSlash(p))
			}
		}
		return same, err == nil
	}
	return func(file string) (all []string) {
		if infos == nil {
			infos = map[string]fs.FileInfo{}
			for _, p := range protected {
				info, err := os.Stat(p)
				for ; err != nil && p != filepath.Dir(p); info, err = os.Stat(p) {
					p = filepath.Dir(p)
				}
				infos[p] = info
			}
		}
		for i := len(filepath.VolumeName(file)) + 1; i <= len(file); i++ {
			if i < len(file) && file[i] != '/' {
				continue
			}
			same, known := seen[file[:i]]
			if !known {
				var exists bool
				if same, exists = look(file[:i]); !exists {
					return all // nothing below exists
				}
				seen[file[:i]] = same
			}
			for _, p := range same {
				all = append(all, path.Join(p, file[i:]))
			}
		}
		return all
	}
}

// maxSearched is the maximum number of files and directories among which a file is searched.
const maxSearched = 200_000

// findSuffix returns the files of a project whose paths end with one of names, if there is no file at that path: some
// agents search for a missing file. It returns false if the project has too many.
func findSuffix(project, dir string, names []string) (found []string, ok bool) {
	missing := map[string][]string{} // by the last element
	for _, name := range names {
		// a link without a target is missing, too
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			missing[path.Base(name)] = append(missing[path.Base(name)], name)
		}
	}
	if len(missing) == 0 || project == "" {
		return nil, true
	}
	count := 0
	err := filepath.WalkDir(project, func(file string, d fs.DirEntry, err error) error {
		count++
		switch {
		case count > maxSearched:
			return fs.SkipAll
		case err != nil: // what cannot be read is not found
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir():
		case slices.ContainsFunc(missing[d.Name()], func(name string) bool {
			return strings.HasSuffix(filepath.ToSlash(file), name)
		}):
			found = append(found, file)
		}
		return nil
	})
	return found, err == nil && count <= maxSearched
}
