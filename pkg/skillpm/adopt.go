package skillpm

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/foreign"
)

// LocalSkill is a skill in a directory of a project that skillpm did not create.
type LocalSkill struct {
	Name string `json:"name"`
	Dir  string `json:"dir"` // relative to the root
	// Source and Path are the repository and the directory in it that another tool recorded for the copy.
	Source string `json:"source,omitempty"`
	Path   string `json:"path,omitempty"`
}

// packSkills is the directory in which a pack has its skills by default.
const packSkills = "skills"

// firstVersion is the version of a pack that has none yet.
const firstVersion = "0.1.0"

// maxSkillFile is the greatest size of a SKILL.md that is read for its name and provenance.
const maxSkillFile = 1 << 20

// adopt makes a directory with local skills a project, or with Pack a pack that can be published. It writes a manifest,
// and moves and copies nothing.
func (c *Client) adopt(o ImportOptions) (*ImportReport, error) {
	s, err := c.Machine.FindScope(o.Scope, true)
	if err != nil {
		return nil, err
	}
	if o.Pack != "" { // a pack may be in the directory of a project
		s = scope.Scope{Kind: scope.KindProject, Root: c.Dir}
	}
	local, dirs, err := findLocalSkills(s)
	if err != nil {
		return nil, err
	}
	if len(local) == 0 {
		return nil, diag.Errorf(diag.NotFound, "cannot find skills or another tool's file in %s", s.Root).
			WithHint("specify FILE, or install packs with: skillpm install OWNER/NAME")
	}
	r := &ImportReport{
		Tool: foreign.ToolNone, Imported: []ImportedPack{}, Skipped: []SkippedImport{}, Local: local,
		Manifest: c.DisplayPath(s.Manifest()), Pack: o.Pack, DryRun: o.DryRun,
	}
	before, err := safefile.ReadOptional(s.Manifest())
	if err != nil {
		return nil, err
	}
	after, err := adoptedManifest(s.Manifest(), before, o.Pack, dirs)
	if err != nil {
		return nil, err
	}
	r.Changed = before == nil || !bytes.Equal(before, after)
	if !r.Changed || o.DryRun {
		return r, nil
	}
	return r, atomicfile.Write(s.Manifest(), after, atomicfile.Options{Mode: 0o644, Sync: true})
}

// findLocalSkills returns the skills in the directories of agents and in that of a pack, and these directories.
func findLocalSkills(s scope.Scope) (local []LocalSkill, dirs []string, err error) {
	local = []LocalSkill{}
	for _, dir := range append([]string{packSkills}, agent.Dirs(agent.All(), false)...) {
		if slices.Contains(dirs, dir) { // an agent reads the directory of a pack
			continue
		}
		found, err := localSkillsIn(s, dir)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > 0 {
			local, dirs = append(local, found...), append(dirs, dir)
		}
	}
	return local, dirs, nil
}

// localSkillsIn returns the skills in one directory. Links are not local skills: they lead to those of another
// directory, or into .skillpm.
func localSkillsIn(s scope.Scope, dir string) ([]LocalSkill, error) {
	if info, err := os.Lstat(s.Abs(dir)); err != nil || !info.IsDir() {
		return nil, nil
	}
	entries, err := os.ReadDir(s.Abs(dir))
	if err != nil {
		return nil, err
	}
	var found []LocalSkill
	for _, e := range entries {
		if !e.IsDir() || skill.SkipDir(e.Name()) {
			continue
		}
		at := path.Join(dir, e.Name())
		data, err := safefile.ReadFile(filepath.Join(s.Abs(at), skill.File), maxSkillFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("cannot read the skill %s: %w", at, err)
		}
		doc, _ := skill.Parse(data)
		l := LocalSkill{Name: e.Name(), Dir: at}
		if p, ok := foreign.SkillProvenance(doc); ok {
			l.Source, l.Path = p.Ref.String(), p.Path
		}
		found = append(found, l)
	}
	return found, nil
}

// adoptedManifest returns the manifest of a project, or of a pack, with its skills in some directories. A project
// records the agents that read them.
func adoptedManifest(file string, before []byte, name string, dirs []string) ([]byte, error) {
	if name == "" {
		text := before
		if before == nil {
			text = []byte("# The packs of this project. Add one with: skillpm install owner/name\ndependencies: {}\n")
		}
		m, err := pack.ParseManifest(file, text)
		if err != nil {
			return nil, err
		}
		if err := addAgents(m, m.Agents, agentsOf(dirs)); err != nil {
			return nil, err
		}
		return m.Bytes(), nil
	}
	id, err := pack.ParseID(name)
	if err != nil {
		return nil, err
	}
	text := fmt.Appendf(nil, "name: %s\nversion: %q\n", id, firstVersion)
	if !slices.Equal(dirs, []string{packSkills}) {
		text = append(text, "skills:\n"...)
		for _, dir := range dirs {
			text = fmt.Appendf(text, "  - %q\n", dir+"/*")
		}
	}
	if before != nil {
		m, err := pack.ParseManifest(file, before)
		if err != nil {
			return nil, err
		}
		if !m.Name.IsZero() || len(m.Skills) > 0 {
			return nil, diag.Errorf(diag.Conflict, "%s already describes a pack", file).
				WithHint("edit name and skills in the file")
		}
		text = append(append(text, '\n'), before...)
	}
	if _, err := pack.ParseManifest(file, text); err != nil {
		return nil, err
	}
	return text, nil
}

// agentsOf returns an agent for each skill directory that agents read: the shared one, or the first by its id.
func agentsOf(dirs []string) []string {
	var ids []string
	for _, dir := range dirs {
		switch dir {
		case packSkills:
			continue
		case agent.Shared:
			ids = append(ids, agent.SharedID)
			continue
		}
		all := agent.All()
		if i := slices.IndexFunc(all, func(a agent.Agent) bool { return a.Project == dir }); i >= 0 {
			ids = append(ids, all[i].ID)
		}
	}
	return ids
}
