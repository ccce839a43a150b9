package sign

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
)

// BuildType says what the parameters of a [Provenance] mean: docs/signing.md describes them.
const BuildType = "https://github.com/skillpm/skillpm/publish/v1"

// BuilderUnknown is the builder of what was published from somewhere that does not say what it is: somebody's machine.
const BuilderUnknown = "https://github.com/skillpm/skillpm/builder/unknown/v1"

// Provenance is where a pack comes from. Nothing in it is proven but by whoever signs it.
type Provenance struct {
	Pack       string // owner/name
	Version    string
	Repository string // of the source, as "https://github.com/acme/skills"; "" where it is not known
	Ref        string // as "refs/tags/v1.4.0", "" where it is not known
	Commit     string // of the source, 40 hexadecimal digits; "" where it is not known
	Directory  string // of the pack in its repository, "" for the root
	Dirty      bool   // files differed from those of the commit
	Builder    string // the URI of what published it; "" for [BuilderUnknown]
	Run        string // the URI of the run that did, "" where there is none
}

// Environment returns what a CI system says of itself: GitHub Actions and those that follow it, and GitLab. Elsewhere
// it is the zero value.
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

// publicURL returns the address of a web page as everybody may see it: without user, password, query and fragment. It
// is "" for what is none. A provenance is public, and what CI systems are told may hold a token.
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

// The predicate of SLSA provenance 1.0, as far as it is used.
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
		URI         string            `json:"uri"`
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

// Statement returns the statement that a manifest has this provenance: SLSA provenance 1.0, without a clock.
func (p Provenance) Statement(digest string) ([]byte, error) {
	switch {
	case p.Pack == "" || p.Version == "":
		return nil, diag.Errorf(diag.Internal, "provenance of nothing")
	case p.Commit != "" && (len(p.Commit) != 40 || strings.Trim(p.Commit, "0123456789abcdef") != ""):
		return nil, diag.Errorf(diag.Invalid, "the source's revision %q is not a commit of 40 hexadecimal digits",
			p.Commit)
	}
	build := slsaBuild{BuildType: BuildType, Parameters: slsaParameters{Pack: p.Pack, Version: p.Version}}
	if p.Repository != "" {
		build.Parameters.Source = &slsaSource{Repository: p.Repository, Ref: p.Ref, Directory: p.Directory}
		if p.Commit != "" {
			build.Resolved = []slsaResource{p.resolved()}
		}
	}
	run := slsaRun{Builder: slsaBuilder{cmp.Or(p.Builder, BuilderUnknown)}}
	if p.Run != "" {
		run.Metadata = &slsaMetadata{p.Run}
	}
	return Statement(p.Pack, digest, PredicateProvenance, slsaProvenance{build, run})
}

// resolved is the source that was published.
func (p Provenance) resolved() slsaResource {
	r := slsaResource{URI: "git+" + p.Repository, Digest: map[string]string{"gitCommit": p.Commit}}
	if p.Ref != "" {
		r.URI += "@" + p.Ref
	}
	if p.Dirty {
		r.Annotations = map[string]bool{"dirty": true}
	}
	return r
}
