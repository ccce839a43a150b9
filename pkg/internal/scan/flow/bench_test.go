package flow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/internal/scan/flow"
)

// manySkills returns skills of the usual size: a page of some 25 KB with prose and code blocks, and for one skill of four a
// script of 8 KB.
func manySkills() (skills [][]flow.File, size int64) {
	prose := strings.Repeat("Read the report, compare it with the plan, and list what differs. Ask before you change it.\n\n", 60)
	python := "import os\nimport requests\n\nKEY = os.environ[\"ACME_API_KEY\"]\n\n\ndef fetch(name, limit=10):\n" +
		"    \"\"\"Return items.\"\"\"\n    r = requests.get(f\"https://api.acme.dev/{name}\", headers={\"Authorization\": f\"Bearer {KEY}\"})\n" +
		"    r.raise_for_status()\n    return [item[\"id\"] for item in r.json()[\"items\"] if item[\"size\"] > limit]\n\n\n"
	shell := "set -euo pipefail\nnpm ci\nfor f in src/*.ts; do\n  npx eslint \"$f\" | tee -a lint.log\ndone\ncurl -fsS https://api.acme.dev/ping -o ping.json\n"
	for i := range 40 {
		var page strings.Builder
		fmt.Fprintf(&page, "---\nname: skill-%d\ndescription: Reports.\n---\n\n", i)
		for k := range 4 {
			page.WriteString(prose)
			fmt.Fprintf(&page, "## Step %d\n\n```bash\n%s```\n\n```python\n%s```\n\n", k, shell, python)
		}
		files := []flow.File{{Path: "SKILL.md", Data: []byte(page.String())}}
		if i%4 == 0 {
			files = append(files, flow.File{Path: "scripts/run.py", Data: []byte(strings.Repeat(python, 18))})
		}
		for _, f := range files {
			size += int64(len(f.Data))
		}
		skills = append(skills, files)
	}
	return skills, size
}

func BenchmarkAnalyze(b *testing.B) {
	skills, size := manySkills()
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, files := range skills {
			flow.Analyze(files)
		}
	}
}
