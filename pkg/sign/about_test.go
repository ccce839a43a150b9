package sign_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/sign"
)

// indented returns indented JSON.
func indented(t *testing.T, data []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", " "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestProvenanceWithoutRepository checks that a commit is stated even if its repository has no public address.
func TestProvenanceWithoutRepository(t *testing.T) {
	s, err := sign.Provenance{Pack: "acme/deploy", Version: "1.4.0", Commit: strings.Repeat("c", 40)}.Statement(digestA)
	want := `"resolvedDependencies":[{"digest":{"gitCommit":"` + strings.Repeat("c", 40) + `"}}]`
	if err != nil || !strings.Contains(string(s), want) {
		t.Errorf("%s does not contain %s: %v", s, want, err)
	}
}

func TestProvenance(t *testing.T) {
	p := sign.Provenance{
		Pack: "acme/deploy", Version: "1.4.0", Repository: "https://git.example/acme/skills", Ref: "refs/tags/v1.4.0",
		Commit: strings.Repeat("c", 40), Directory: "packs/deploy", Dirty: true,
		Builder: "https://git.example/builder", Run: "https://git.example/acme/skills/actions/runs/7/attempts/1",
	}
	s, err := p.Statement(digestA)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
 "_type": "https://in-toto.io/Statement/v1",
 "subject": [
  {
   "name": "acme/deploy",
   "digest": {
    "sha256": "` + digestA[7:] + `"
   }
  }
 ],
 "predicateType": "https://slsa.dev/provenance/v1",
 "predicate": {
  "buildDefinition": {
   "buildType": "https://github.com/skillpm/skillpm/publish/v1",
   "externalParameters": {
    "pack": "acme/deploy",
    "version": "1.4.0",
    "source": {
     "repository": "https://git.example/acme/skills",
     "ref": "refs/tags/v1.4.0",
     "directory": "packs/deploy"
    }
   },
   "resolvedDependencies": [
    {
     "uri": "git+https://git.example/acme/skills@refs/tags/v1.4.0",
     "digest": {
      "gitCommit": "` + strings.Repeat("c", 40) + `"
     },
     "annotations": {
      "dirty": true
     }
    }
   ]
  },
  "runDetails": {
   "builder": {
    "id": "https://git.example/builder"
   },
   "metadata": {
    "invocationId": "https://git.example/acme/skills/actions/runs/7/attempts/1"
   }
  }
 }
}`
	if got := indented(t, s); got != want {
		t.Errorf("the statement is\n%s\nwant\n%s", got, want)
	}
	if _, err := sign.ParseStatement(s); err != nil {
		t.Error(err)
	}

	least, err := sign.Provenance{Pack: "acme/deploy", Version: "1.4.0"}.Statement(digestA)
	if err != nil || !strings.Contains(string(least), `"builder":{"id":"`+sign.BuilderUnknown+`"}}`) || strings.Contains(string(least), "source") {
		t.Errorf("of an unknown source: %s, %v", least, err)
	}
	_, err = sign.Provenance{Pack: "acme/deploy", Version: "1.4.0", Commit: "main"}.Statement(digestA)
	checkCode(t, err, diag.Invalid, "not a commit")
	_, err = sign.Provenance{Pack: "acme/deploy", Version: "1.4.0"}.Statement("latest")
	checkCode(t, err, diag.Invalid, "use sha256:")
}

func TestEnvironment(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want sign.Provenance
	}{
		"nowhere": {map[string]string{"GITHUB_SHA": "x", "CI": "true"}, sign.Provenance{}},
		"GitHub": {
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/skills", "GITHUB_REF": "refs/heads/main", "GITHUB_SHA": strings.Repeat("a", 40),
				"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_WORKFLOW_REF": "acme/skills/.github/workflows/r.yml@refs/heads/main",
			},
			sign.Provenance{
				Repository: "https://github.com/acme/skills", Ref: "refs/heads/main", Commit: strings.Repeat("a", 40),
				Builder: "https://github.com/acme/skills/.github/workflows/r.yml@refs/heads/main",
				Run:     "https://github.com/acme/skills/actions/runs/7/attempts/2",
			},
		},
		"GitHub with a token": {
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/skills", "GITHUB_SERVER_URL": "https://u:TOKEN@github.example/?x=TOKEN",
				"GITHUB_RUN_ID": "7", "GITHUB_WORKFLOW_REF": "acme/skills/.github/workflows/r.yml@refs/heads/main",
			},
			sign.Provenance{
				Repository: "https://github.example/acme/skills", Builder: "https://github.example/acme/skills/.github/workflows/r.yml@refs/heads/main",
				Run: "https://github.example/acme/skills/actions/runs/7/attempts/1",
			},
		},
		"GitHub at no URL": {
			map[string]string{
				"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/skills", "GITHUB_SERVER_URL": `https:\\u:TOKEN@github.example`, "GITHUB_REF": "refs/heads/main",
				"GITHUB_RUN_ID": "7", "GITHUB_WORKFLOW_REF": "acme/skills/.github/workflows/r.yml@refs/heads/main",
			},
			sign.Provenance{Ref: "refs/heads/main"},
		},
		"GitLab with a token": {
			map[string]string{
				"GITLAB_CI": "true", "CI_PROJECT_URL": "https://u:TOKEN@gitlab.example/acme/skills", "CI_JOB_URL": "gitlab.example/TOKEN", "CI_RUNNER_ID": "3",
			},
			sign.Provenance{Repository: "https://gitlab.example/acme/skills", Builder: "https://gitlab.example/acme/skills/-/runners/3"},
		},
		"GitLab": {
			map[string]string{
				"GITLAB_CI": "true", "CI_PROJECT_URL": "https://gitlab.example/acme/skills", "CI_COMMIT_SHA": strings.Repeat("b", 40), "CI_COMMIT_TAG": "v1.0.0",
				"CI_JOB_URL": "https://gitlab.example/acme/skills/-/jobs/9", "CI_RUNNER_ID": "3",
			},
			sign.Provenance{
				Repository: "https://gitlab.example/acme/skills", Ref: "refs/tags/v1.0.0", Commit: strings.Repeat("b", 40),
				Builder: "https://gitlab.example/acme/skills/-/runners/3", Run: "https://gitlab.example/acme/skills/-/jobs/9",
			},
		},
	}
	for name, tt := range tests {
		if got := sign.Environment(func(key string) string { return tt.env[key] }); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestSBOM(t *testing.T) {
	b := sign.SBOM{
		Pack: "acme/deploy", Version: "1.4.0", Description: "Rolls out & back", License: "MIT",
		Skills: []sign.SBOMSkill{
			{Name: "rollback", Tree: "t1:" + digestB},
			{Name: "deploy", Description: "Deploys.", License: "Proprietary", Tree: "t1:" + digestA, Files: []sign.SBOMFile{
				{Path: "scripts/run.sh", SHA256: [32]byte{2}}, {Path: "SKILL.md", SHA256: [32]byte{1}},
			}},
		},
		Requires: map[string]string{"acme/base": ">=1.2 <3"},
	}
	text, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$schema":"http://cyclonedx.org/schema/bom-1.6.schema.json","bomFormat":"CycloneDX","specVersion":"1.6","version":1,` +
		`"metadata":{"tools":{"components":[{"type":"application","name":"skillpm"}]},` +
		`"component":{"type":"application","bom-ref":"pack:acme/deploy@1.4.0","group":"acme","name":"deploy","version":"1.4.0","description":"Rolls out & back","licenses":[{"license":{"name":"MIT"}}]}},` +
		`"components":[` +
		`{"type":"library","bom-ref":"skill:deploy","name":"deploy","version":"1.4.0","description":"Deploys.","licenses":[{"license":{"name":"Proprietary"}}],` +
		`"properties":[{"name":"skillpm:tree","value":"t1:` + digestA + `"}],"components":[` +
		`{"type":"file","bom-ref":"file:deploy/SKILL.md","name":"SKILL.md","hashes":[{"alg":"SHA-256","content":"01` + strings.Repeat("0", 62) + `"}]},` +
		`{"type":"file","bom-ref":"file:deploy/scripts/run.sh","name":"scripts/run.sh","hashes":[{"alg":"SHA-256","content":"02` + strings.Repeat("0", 62) + `"}]}]},` +
		`{"type":"library","bom-ref":"skill:rollback","name":"rollback","version":"1.4.0","properties":[{"name":"skillpm:tree","value":"t1:` + digestB + `"}]},` +
		`{"type":"application","bom-ref":"requires:acme/base","group":"acme","name":"base","properties":[{"name":"skillpm:range","value":">=1.2 <3"}]}],` +
		`"dependencies":[{"ref":"pack:acme/deploy@1.4.0","dependsOn":["skill:deploy","skill:rollback","requires:acme/base"]},` +
		`{"ref":"skill:deploy"},{"ref":"skill:rollback"},{"ref":"requires:acme/base"}]}`
	if string(text) != want {
		t.Errorf("the document is\n%s\nwant\n%s", text, want)
	}
	slices.Reverse(b.Skills)
	if again, err := b.Encode(); err != nil || !bytes.Equal(again, text) {
		t.Errorf("in another order it is\n%s, %v", again, err)
	}
}
