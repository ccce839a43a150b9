package connect

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Files returns the files in which agents that run skillpm's hooks read their settings about hooks, even if they do not
// exist: a program that may write to one can disable skillpm.
func Files(e Env) (files []string) {
	for _, h := range Agents() {
		var own []string
		connected := false
		for _, p := range slices.Concat(h.hooks, h.switches) {
			for _, file := range e.filesUp(p) {
				own = append(own, file)
				data, err := safefile.ReadFile(file, maxFile)
				connected = connected || err == nil && bytes.Contains(data, []byte(" --agent "+h.ID))
			}
		}
		if connected {
			files = append(files, own...)
		}
	}
	return files
}

// filesUp returns the paths of a configuration file: for one of a project also those in the directories above, because
// the project of an agent may begin there.
func (e Env) filesUp(p configFile) (files []string) {
	if p.base != inProject {
		return []string{e.file(p)}
	}
	for above := ""; e.Project != above; e.Project = filepath.Dir(above) {
		above = e.Project
		files = append(files, e.file(p))
	}
	return files
}
