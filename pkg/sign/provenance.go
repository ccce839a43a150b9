package sign

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// BuildType defines the parameters of a [Provenance]; docs/reference/formats.md describes them.
const BuildType = "https://github.com/skillpm/skillpm/publish/v1"

// BuilderUnknown is the builder of a pack that was published outside a known CI system.
const BuilderUnknown = "https://github.com/skillpm/skillpm/builder/unknown/v1"

// Provenance states where a pack comes from. It is only as trustworthy as its signer.
type Provenance struct {
	Pack       string // owner/name
	Version    string
	Repository string // of the source, such as "https://github.com/acme/skills"; "" if unknown
	Ref        string // such as "refs/tags/v1.4.0"; "" if unknown
	Commit     string // of the source, 40 hexadecimal digits; "" if unknown
	Directory  string // of the pack in its repository; "" for the root
	Dirty      bool   // files differed from the commit
	Builder    string // URI of the publishing system; "" for [BuilderUnknown]
	Run        string // URI of the CI run; "" if none
}

// Environment returns the provenance that the environment variables of a CI system state: GitHub Actions and compatible
// ones, and GitLab. Elsewhere it is the zero value.
func Environment(getenv func(string) string) Provenance {
	switch {
	case getenv("GITHUB_ACTIONS") == "true":
		return fromGitHub(getenv)
	case getenv("GITLAB_CI") == "true":
		return fromGitLab(getenv)
	}
	return Provenance{}
}

func fromGitHub(getenv func(string) string) Provenance {
	server, name := publicURL(cmp.Or(getenv("GITHUB_SERVER_URL"), "https://github.com")), getenv("GITHUB_REPOSITORY")
	p := Provenance{Ref: getenv("GITHUB_REF"), Commit: getenv("GITHUB_SHA")}
	if server == "" {
		return p
	}
	if name != "" {
		p.Repository = server + "/" + name
	}
	if workflow := getenv("GITHUB_WORKFLOW_REF"); workflow != "" {
		p.Builder = server + "/" + workflow
	}
	if run := getenv("GITHUB_RUN_ID"); run != "" && name != "" {
		p.Run = p.Repository + "/actions/runs/" + run + "/attempts/" + cmp.Or(getenv("GITHUB_RUN_ATTEMPT"), "1")
	}
	return p
}

func fromGitLab(getenv func(string) string) Provenance {
	p := Provenance{
		Repository: publicURL(getenv("CI_PROJECT_URL")), Commit: getenv("CI_COMMIT_SHA"),
		Run: publicURL(getenv("CI_JOB_URL")),
	}
	if tag := getenv("CI_COMMIT_TAG"); tag != "" {
		p.Ref = "refs/tags/" + tag
	} else if branch := getenv("CI_COMMIT_BRANCH"); branch != "" {
		p.Ref = "refs/heads/" + branch
	}
	if runner := getenv("CI_RUNNER_ID"); runner != "" && p.Repository != "" {
		p.Builder = p.Repository + "/-/runners/" + runner
	}
	return p
}

// publicURL returns the public address of a web page, without user, password, query, and fragment, or "" if it is not
// one. Provenance is public, and CI variables may contain tokens.
func publicURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" ||
		strings.ContainsAny(u.Path, "@\\") {
		return ""
	}
	return (&url.URL{
		Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/"),
		RawPath: strings.TrimRight(u.RawPath, "/"),
	}).String()
}

// The used part of the predicate of SLSA provenance 1.0.
type (
	slsaProvenance struct {
		BuildDefinition slsaBuild `json:"buildDefinition"`
		RunDetails      slsaRun   `json:"runDetails"`
	}
	slsaBuild struct {
		BuildType  string         `json:"buildType"`
		Parameters slsaParameters `json:"externalParameters"`
		Resolved   []slsaResource `json:"resolvedDependencies,omitempty"`
	}
	slsaParameters struct {
		Pack    string      `json:"pack"`
		Version string      `json:"version"`
		Source  *slsaSource `json:"source,omitempty"`
	}
	slsaSource struct {
		Repository string `json:"repository"`
		Ref        string `json:"ref,omitempty"`
		Directory  string `json:"directory,omitempty"`
	}
	slsaResource struct {
		URI         string            `json:"uri,omitempty"`
		Digest      map[string]string `json:"digest"`
		Annotations map[string]bool   `json:"annotations,omitempty"`
	}
	slsaRun struct {
		Builder  slsaBuilder   `json:"builder"`
		Metadata *slsaMetadata `json:"metadata,omitempty"`
	}
	slsaBuilder struct {
		ID string `json:"id"`
	}
	slsaMetadata struct {
		InvocationID string `json:"invocationId"`
	}
)

// Statement returns the statement that a manifest has this provenance: SLSA provenance 1.0, without times.
func (p Provenance) Statement(digest string) ([]byte, error) {
	switch {
	case p.Pack == "" || p.Version == "":
		return nil, diag.Errorf(diag.Internal, "the provenance requires the name and the version of a pack")
	case p.Commit != "" && (len(p.Commit) != 40 || strings.Trim(p.Commit, "0123456789abcdef") != ""):
		return nil, diag.Errorf(diag.Invalid, "the source revision %q is not a commit of 40 hexadecimal digits",
			p.Commit)
	}
	build := slsaBuild{BuildType: BuildType, Parameters: slsaParameters{Pack: p.Pack, Version: p.Version}}
	if p.Repository != "" {
		build.Parameters.Source = &slsaSource{Repository: p.Repository, Ref: p.Ref, Directory: p.Directory}
	}
	if p.Commit != "" {
		build.Resolved = []slsaResource{p.resolved()}
	}
	run := slsaRun{Builder: slsaBuilder{cmp.Or(p.Builder, BuilderUnknown)}}
	if p.Run != "" {
		run.Metadata = &slsaMetadata{p.Run}
	}
	return Statement(p.Pack, digest, PredicateProvenance, slsaProvenance{build, run})
}

// resolved is the published source. A repository without a public address has only a commit.
func (p Provenance) resolved() slsaResource {
	r := slsaResource{Digest: map[string]string{"gitCommit": p.Commit}}
	if p.Repository != "" {
		r.URI = "git+" + p.Repository
		if p.Ref != "" {
			r.URI += "@" + p.Ref
		}
	}
	if p.Dirty {
		r.Annotations = map[string]bool{"dirty": true}
	}
	return r
}
