package connect

import (
	"bytes"
	"strings"

	"github.com/skillpm/skillpm/pkg/internal/safefile"
)

// Files returns the files in which agents that run skillpm's hooks read their settings about hooks, even if they do not
// exist: a program that may write to one can disable skillpm.
func Files(e Env) (files []string) {
	for _, h := range Agents() {
		var own []string
		connected := false
		for _, p := range h.hooks {
			if p.base == inProject && e.Project == "" {
				continue
			}
			file := e.file(p)
			own = append(own, file)
			local, ok := strings.CutSuffix(file, "settings.json")
			if ok && h.ID == "claude-code" && p.base != inMachine {
				own = append(own, local+"settings.local.json")
			}
			data, err := safefile.ReadFile(file, maxFile)
			connected = connected || err == nil && bytes.Contains(data, []byte(" --agent "+h.ID))
		}
		if connected {
			files = append(files, own...)
		}
	}
	return files
}
