package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/lint"
)

// matrixOf renders the matrix of verdicts: "skill host" lines, with the rules if the host rejects the skill.
func matrixOf(t *testing.T, hosts []string, skills []string, refused map[string][]string) string {
	t.Helper()
	o := Outcome{Report: lint.Report{Profiles: hosts, Skills: skills}}
	for _, s := range skills {
		for _, h := range hosts {
			reasons := refused[s+" "+h]
			o.Verdicts = append(o.Verdicts, lint.ProfileVerdict{Skill: s, Profile: h, Accepted: reasons == nil, Reasons: reasons})
		}
	}
	var b bytes.Buffer
	(textReport{}).matrix(&b, o)
	return b.String()
}

// TestMatrix checks S3: which agents accept which skills, and why others do not.
func TestMatrix(t *testing.T) {
	deep := "a/very/deep/directory/with/skills/in/it/deploy"
	got := matrixOf(t, []string{"agentskills", "pegasus"}, []string{"日本/x", deep, "ok"}, map[string][]string{
		"日本/x agentskills": {"FM010"},
		"日本/x pegasus":     {"FM010", "FM017", "REF001", "REF003"},
		deep + " pegasus":  {"FM023"},
	})
	want := `accepted by                               agentskills  pegasus
日本/x                                    ✗ FM010      ✗ FM010 FM017 +2
…deep/directory/with/skills/in/it/deploy  ✓            ✗ FM023
ok                                        ✓            ✓
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestMatrixOfMany checks that a matrix of many skills shows only those that some agent rejects, and how many skills
// each agent accepts.
func TestMatrixOfMany(t *testing.T) {
	var skills []string
	for i := range 30 {
		skills = append(skills, fmt.Sprintf("s%02d", i))
	}
	got := matrixOf(t, []string{"one", "two"}, skills, map[string][]string{"s07 two": {"FM010"}, "s20 two": {"FM014"}})
	want := `accepted by  one       two
s07          ✓         ✗ FM010
s20          ✓         ✗ FM014
30 skills    30 of 30  28 of 30
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if all := matrixOf(t, []string{"one", "two"}, skills, nil); strings.Count(all, "\n") != 2 {
		t.Errorf("got:\n%s", all)
	}
}

// TestMatrixOfProjects checks that the matrix leaves out agents that a skill was not checked for, because its project
// names other agents than its neighbor.
func TestMatrixOfProjects(t *testing.T) {
	o := Outcome{Report: lint.Report{Profiles: []string{"one", "two"}, Skills: []string{"a", "b"}, Verdicts: []lint.ProfileVerdict{
		{Skill: "a", Profile: "one", Accepted: true}, {Skill: "b", Profile: "two", Reasons: []string{"FM010"}},
	}}}
	var b bytes.Buffer
	(textReport{}).matrix(&b, o)
	want := `accepted by  one  two
a            ✓    –
b            –    ✗ FM010
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}
