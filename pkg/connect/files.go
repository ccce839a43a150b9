package connect

import (
	"bytes"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Files returns the files that have an agent's hooks: a program that may write to one can disable skillpm.
func Files(e Env, agentID string) (files []string) {
	h, err := Find(agentID, Hook)
	if err != nil {
		return nil
	}
	for _, p := range h.hooks {
		if p.base == inProject && e.Project == "" {
			continue
		}
		file := e.file(p)
		if data, err := safefile.ReadFile(file, maxFile); err == nil &&
			bytes.Contains(data, []byte(" --agent "+h.ID)) {
			files = append(files, file)
		}
	}
	return files
}
