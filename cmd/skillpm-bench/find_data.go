package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
)

// maxTask is the length of the longest task, in bytes.
const maxTask = 6000

// findSkill is a skill that is searched.
type findSkill struct {
	catalog.Candidate
	front string // all of the frontmatter
}

// newFindSkill reads a SKILL.md. An empty name means the declared one, or that of the directory.
func newFindSkill(name, dir string, data []byte) findSkill {
	doc, _ := skill.Parse(data)
	if name == "" {
		if name = doc.Name(); name == "" {
			name = path.Base(dir)
		}
	}
	return findSkill{
		Candidate: catalog.Candidate{
			Name: name, Description: doc.Description(), WhenToUse: doc.Text("when_to_use"), Body: string(doc.Body()),
		},
		front: string(doc.FrontText()),
	}
}

// findPool is a list of skills with different names.
type findPool struct {
	skills []findSkill
	names  map[string]bool
}

func (p *findPool) add(s findSkill) {
	if p.names == nil {
		p.names = map[string]bool{}
	}
	if !p.names[s.Name] {
		p.names[s.Name] = true
		p.skills = append(p.skills, s)
	}
}

// route is a task and the skills that it needs.
type route struct {
	id, text string
	core     map[string]bool // those that make the task possible
	gold     map[string]bool // all that help
}

type routing struct {
	findPool
	tasks []route
}

// readRoutes reads the pool and the tasks that have a core skill in it.
func readRoutes(ctx context.Context, data, pool string) (*routing, error) {
	r := &routing{}
	c := collection{dir: data}
	err := c.with(ctx, routingSkills, func(t *tree) error {
		for _, dir := range t.skills(".") {
			if !strings.Contains("/"+dir, "/tasks/") {
				continue
			}
			text, err := t.read(path.Join(dir, skill.File))
			if err != nil {
				return err
			}
			r.add(newFindSkill(path.Base(dir), dir, text))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(os.DirFS(pool), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Base(name) != skill.File {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(pool), name)
		if err == nil {
			r.add(newFindSkill("", path.Dir(name), text))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, c.with(ctx, routingTasks, r.readTasks)
}

// readTasks reads the scored tasks.
func (r *routing) readTasks(t *tree) error {
	var relevance map[string]struct {
		Core []string `json:"core_gt_ids"`
		Gold []string `json:"gt_skill_ids"`
		Type string   `json:"task_type"`
	}
	data, err := t.read("data/eval_core/relevance.json")
	if err == nil {
		err = json.Unmarshal(data, &relevance)
	}
	if err != nil {
		return err
	}
	if data, err = t.read("data/eval_core/tasks.jsonl"); err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var task struct {
			ID   string `json:"task_id"`
			Text string `json:"instruction_text"`
		}
		if err := json.Unmarshal(lines.Bytes(), &task); err != nil {
			return err
		}
		if relevance[task.ID].Type == "generic_only" {
			continue
		}
		one := route{
			id: task.ID, text: prefixOf(task.Text, maxTask),
			core: r.named(relevance[task.ID].Core), gold: r.named(relevance[task.ID].Gold),
		}
		if len(one.core) > 0 {
			r.tasks = append(r.tasks, one)
		}
	}
	return lines.Err()
}

// named returns the names of the skills in the pool that have these ids.
func (r *routing) named(ids []string) map[string]bool {
	set := map[string]bool{}
	for _, id := range ids {
		if name := strings.TrimPrefix(id, "gt/"); r.names[name] {
			set[name] = true
		}
	}
	return set
}

// trigger is a prompt for or against a skill.
type trigger struct {
	Prompt string `json:"prompt"`
	Owner  string `json:"owner"`
	skill  string
}

type triggers struct {
	findPool
	positive, negative []trigger
}

// readTriggers reads skills and their trigger prompts, in the order of the names of the files.
func readTriggers(ctx context.Context, data string) (*triggers, error) {
	all := &triggers{}
	return all, collection{dir: data}.with(ctx, triggerCases, func(t *tree) error {
		for _, dir := range t.skills("skills") {
			text, err := t.read(path.Join(dir, skill.File))
			if err != nil {
				return err
			}
			all.add(newFindSkill("", dir, text))
		}
		for _, name := range t.under("evals/cases") {
			if path.Ext(name) != ".json" {
				continue
			}
			var file struct {
				Skill   string `json:"skill_name"`
				Trigger struct{ Positive, Negative []trigger }
			}
			text, err := t.read(name)
			if err == nil {
				err = json.Unmarshal(text, &file)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for _, list := range [][]trigger{file.Trigger.Positive, file.Trigger.Negative} {
				for i := range list {
					list[i].skill = file.Skill
				}
			}
			all.positive = slices.Concat(all.positive, file.Trigger.Positive)
			all.negative = slices.Concat(all.negative, file.Trigger.Negative)
		}
		if len(all.positive) == 0 {
			return fmt.Errorf("%s does not contain evals/cases; fetch a newer version", triggerCases)
		}
		return nil
	})
}

// with calls do with the files of a repository.
func (c collection) with(ctx context.Context, repository string, do func(*tree) error) error {
	t, err := c.open(ctx, repository)
	if err != nil {
		return err
	}
	defer t.close()
	return do(t)
}

// prefixOf returns the first bytes of a text, at most limit, that are whole characters.
func prefixOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
