package evaluate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillpm/skillpm/pkg/cli/internal/evalfile"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/jsonx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/textx"
)

// maxFinished limits the file of a finished run, in bytes.
const maxFinished = 8 << 20

// keptFinished is how long finished runs are kept.
const keptFinished = 30 * 24 * time.Hour

// finishedRun is a finished run in the cache.
type finishedRun struct {
	Model string `json:"model,omitempty"`
	Run   Run    `json:"run"`
}

// keyOf returns the name of a run in the cache: a digest of everything that decides its result, except the agent's
// settings and the model that they choose.
func (r *runner) keyOf(j *job) (string, error) {
	key := struct {
		Format       int
		Agent        []string
		AgentVersion string
		Variant      Variant
		Number       int
		Skill        string
		SkillName    string
		Inputs       string
		Graded       string
		Task         *evalfile.Task
		Query        *evalfile.Query
		Timeout      time.Duration
	}{
		Format: 1, Agent: append([]string{r.o.Agent.ID}, r.o.Agent.argv...), AgentVersion: r.version,
		Variant: j.variant, Number: j.number, SkillName: j.target.Name, Timeout: r.o.Timeout,
	}
	if j.query != nil {
		query := *j.query
		query.Position = evalfile.Position{} // a moved entry is the same
		key.Query = &query
	}
	if s := j.snapshot(); s != nil {
		key.Skill = s.digest
	}
	if j.task != nil {
		task := *j.task
		task.Position = evalfile.Position{}
		key.Task = &task
		if slices.ContainsFunc(task.Graders, readsSkill) {
			key.Graded = j.target.with.graded
		}
		var err error
		if key.Inputs, err = j.target.with.inputs(j.task); err != nil {
			return "", err
		}
	}
	data, err := json.Marshal(key)
	return textx.SHA256(data), err
}

// readsSkill reports whether a grader depends on files of the skill.
func readsSkill(g evalfile.Grader) bool { return g.Type == evalfile.Command || g.Expected != "" }

func (r *runner) fileOf(j *job) string { return filepath.Join(r.o.Cache, j.key+".json") }

// load returns a finished run from the cache, nil if it is missing.
func (r *runner) load(j *job) *Run {
	data, err := safefile.ReadFile(r.fileOf(j), maxFinished)
	if err != nil {
		return nil
	}
	var f finishedRun
	if err := jsonx.Decode(data, &f, jsonx.Options{}); err != nil {
		return nil
	}
	if f.Run.check() != nil || f.Run.Variant != j.variant || f.Run.Number != j.number {
		return nil
	}
	r.saw(f.Model)
	return &f.Run
}

// save keeps a finished run. An evaluation that cannot keep it only cannot be continued.
func (r *runner) save(j *job) {
	r.mu.Lock()
	data, err := jsonx.Marshal(finishedRun{Model: r.model, Run: *j.run})
	r.mu.Unlock()
	if err == nil {
		err = atomicfile.Write(r.fileOf(j), data, atomicfile.Options{MkdirMode: 0o700})
	}
	if err != nil {
		r.o.Warn("cannot keep the result of a run: %s", err)
	}
}

// forget removes a finished run.
func (r *runner) forget(j *job) { _ = os.Remove(r.fileOf(j)) }

// removeOld removes finished runs that no evaluation continued for a long time.
func (r *runner) removeOld() {
	entries, _ := os.ReadDir(r.o.Cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && r.o.Now().Sub(info.ModTime()) > keptFinished {
			_ = os.Remove(filepath.Join(r.o.Cache, e.Name()))
		}
	}
}
