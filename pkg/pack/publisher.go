package pack

import (
	"regexp"
	"strings"
	"sync"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Publisher is a repository whose CI jobs sign packs without a key: with a certificate for the identity of the job.
type Publisher struct {
	System     string // GitHub or GitLab
	Host       string // of a server of an organization; "" for github.com or gitlab.com
	Repository string // owner/name, or group/…/project
	Workflow   string // GitHub: the file in .github/workflows; "" for any
	Ref        string // refs/heads/… or refs/tags/…, with * for any characters; "" for any branch or tag
}

// The CI systems of publishers.
const (
	GitHub = "github"
	GitLab = "gitlab"
)

const workflows = ".github/workflows/"

var (
	publisherHost     = lazyPattern(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?$`)
	publisherWorkflow = lazyPattern(`^[A-Za-z0-9_][A-Za-z0-9._-]*\.ya?ml$`)
	publisherRef      = lazyPattern(`^refs/(heads|tags)/[A-Za-z0-9._/+*-]+$`)
	githubRepository  = lazyPattern(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
	gitlabProject     = lazyPattern(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
)

func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// ParsePublisher parses github:OWNER/REPO[/.github/workflows/FILE][@REF] or gitlab:GROUP/PROJECT[@REF]. A server of an
// organization comes first, such as gitlab://git.example/acme/skills.
func ParsePublisher(text string) (Publisher, error) {
	system, rest, ok := strings.Cut(text, ":")
	p := Publisher{System: system}
	if !ok || system != GitHub && system != GitLab {
		return p, diag.Errorf(diag.Invalid, "%q is not a publisher", text).
			WithHint("use github:OWNER/REPO/.github/workflows/FILE or gitlab:GROUP/PROJECT")
	}
	if server, is := strings.CutPrefix(rest, "//"); is {
		p.Host, rest, _ = strings.Cut(server, "/")
		if p.Host == "" {
			return p, diag.Errorf(diag.Invalid, "the publisher %q does not have a host after //", text)
		}
	}
	rest, p.Ref, ok = strings.Cut(rest, "@")
	if ok && p.Ref == "" {
		return p, diag.Errorf(diag.Invalid, "the publisher %q does not have a ref after @", text)
	}
	p.Repository = rest
	if repository, file, is := strings.Cut(rest, "/"+workflows); is && system == GitHub {
		p.Repository, p.Workflow = repository, file
		if file == "" {
			return p, diag.Errorf(diag.Invalid, "the publisher %q does not name a workflow", text)
		}
	}
	return p, p.Check()
}

// Check returns what is wrong with a publisher, with the code [diag.Invalid].
func (p Publisher) Check() error {
	wrong := func(what, value, hint string) error {
		return diag.Errorf(diag.Invalid, "%q is not a %s", value, what).WithHint("%s", hint)
	}
	switch {
	case p.System == GitHub && !githubRepository().MatchString(p.Repository):
		return wrong("GitHub repository", p.Repository, "use OWNER/REPO, such as acme/skills")
	case p.System == GitLab && !gitlabProject().MatchString(p.Repository):
		return wrong("GitLab project", p.Repository, "use GROUP/PROJECT, such as acme/skills")
	case p.Host != "" && !publisherHost().MatchString(p.Host):
		return wrong("host", p.Host, "use the host of the server in lower case, such as git.example")
	case p.System == GitLab && p.Workflow != "":
		return wrong("setting of a GitLab project", p.Workflow, "remove the workflow; it applies to GitHub only")
	case p.Workflow != "" && !publisherWorkflow().MatchString(p.Workflow):
		return wrong("workflow file", p.Workflow, "use the name of a file in "+workflows+", such as release.yml")
	case p.Ref != "" && !publisherRef().MatchString(p.Ref):
		return wrong("ref of a branch or tag", p.Ref, "use refs/heads/NAME or refs/tags/NAME, such as refs/tags/v*")
	}
	return nil
}

// String returns the publisher in the syntax of [ParsePublisher].
func (p Publisher) String() string {
	text := p.System + ":"
	if p.Host != "" {
		text += "//" + p.Host + "/"
	}
	text += p.Repository
	if p.Workflow != "" {
		text += "/" + workflows + p.Workflow
	}
	if p.Ref != "" {
		text += "@" + p.Ref
	}
	return text
}

// Certificate returns what the certificate of a job of the publisher contains, as Fulcio issues it: the issuer of its
// identity tokens, a pattern for the subject between ^ and $, and the repository of the job. The subject names the
// workflow's repository, which is another one if a job calls a reusable workflow. So both must match.
func (p Publisher) Certificate() (issuer, subject, repository string) {
	host, file := p.Host, "//[!-?A-~]+" // any path; the first @ ends it
	switch {
	case p.System == GitLab && host == "":
		host, issuer = "gitlab.com", "https://gitlab.com"
	case p.System == GitLab:
		issuer = "https://" + host
	case host == "":
		host, issuer = "github.com", "https://token.actions.githubusercontent.com"
	default:
		issuer = "https://" + host + "/_services/token"
	}
	if p.System == GitHub {
		file = "/" + regexp.QuoteMeta(workflows) + "[!-.0-?A-~]+"
		if p.Workflow != "" {
			file = "/" + regexp.QuoteMeta(workflows+p.Workflow)
		}
	}
	ref, star := "refs/(heads|tags)/[!-~]+", "[!-~]*"
	if p.System == GitLab {
		// a configuration x@refs/tags/v1.yml on a branch would otherwise be the tag v1.yml@refs/heads/…
		star = "[!-?A-~]*"
	}
	if p.Ref != "" {
		ref = strings.ReplaceAll(regexp.QuoteMeta(p.Ref), `\*`, star)
	}
	repository = "https://" + host + "/" + p.Repository
	return issuer, "^" + regexp.QuoteMeta(repository) + file + "@" + ref + "$", repository
}
