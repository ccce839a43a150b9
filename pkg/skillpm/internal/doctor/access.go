package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// checkPolicies checks whether the policies can be read, and whether the key files that they name are as they say.
func checkPolicies(x *exam) {
	project := ""
	switch s, found, err := x.Paths.Project(x.Dir); {
	case err != nil: // the home directory is not a project, for example
	case found && s.Kind == scope.KindProject:
		project = s.Root
	case !found:
		project = x.Dir // a new project would be here
	}
	var effective []string
	for _, p := range x.Machine.PolicyFiles().Policies(project) {
		if err := p.Err(); err != nil {
			message := err.Error()
			if denied, ok := errors.AsType[*policy.DeniedError](err); ok && denied.Err != nil {
				message = denied.Err.Error() // without what follows from it
			}
			x.error(p.Path, message, "everything is denied; no packs can be installed or updated", diag.HintOf(err))
			continue
		}
		effective = append(effective, fmt.Sprintf("%s (%s)", p.Path, p.Mode))
		x.checkPolicyKeys(p)
	}
	if len(effective) > 0 {
		x.fact("policies", strings.Join(effective, ", "))
	}
}

func (x *exam) checkPolicyKeys(p *policy.Policy) {
	for _, q := range p.Require {
		if q.Signatures == nil {
			continue
		}
		rule, effect := policy.Rule{Requirement: q, Policy: p}, "packs from "+string(q.Match)+" are denied"
		if q.Signatures.NeedIdentity() && x.Keyless == nil {
			x.error(p.Path, rule.String()+" requires keyless signatures, which this build cannot verify", effect,
				"use skillpm-keyless of the same release, or trust a key")
		}
		if err := admission.CheckSigners(rule); err != nil {
			x.fail(p.Path, err, effect)
		}
	}
}

// checkAuditLog checks whether what is done can be recorded: if a policy requires the log, nothing is done without it.
func checkAuditLog(x *exam) {
	evaluator := x.Machine.Guard(x.Dir)
	log := x.Log(evaluator)
	err := log.Check()
	switch {
	case err == nil:
	case log.Required():
		x.fail(log.Path(), err, "nothing is installed, activated, or run, because "+evaluator.Log().By+" requires "+
			"the audit log")
	default:
		x.warn(log.Path(), err.Error(), "actions are not recorded", diag.HintOf(err))
	}
}

// checkTrustedKeys checks whether the settings' trusted keys are files of keys.
func checkTrustedKeys(x *exam) {
	for _, name := range x.config.TrustedKeys {
		file := x.config.File(name)
		if _, err := trust.ReadKeys([]string{file}); err != nil {
			x.error(file, err.Error()+"; trusted-keys in the settings refers to it",
				"install, update, and try fail with --require-signature",
				"put the public key there, or remove the entry from the settings")
		}
	}
}

// checkAgentConnections checks whether the agents in use call skillpm's hooks and start its MCP server, and whether
// these programs exist.
func checkAgentConnections(x *exam) {
	e := connect.Env{Home: x.Paths.Home, OS: x.OS, Getenv: x.Getenv, State: x.Paths.State}
	if s, _, err := x.Paths.Project(x.Dir); err == nil {
		e.Project = s.Root
	}
	var ids []string
	for _, a := range x.agentsInUse(e.Project) {
		ids = append(ids, a.ID)
	}
	for _, h := range connect.Detect(e, ids) {
		x.checkConnection(e, h, connect.Hook, "hooks")
		x.checkConnection(e, h, connect.MCP, "MCP server")
	}
}

// checkConnection checks the connections of an agent to skillpm, in all scopes.
func (x *exam) checkConnection(e connect.Env, h connect.Agent, kind connect.Kind, name string) {
	if len(h.Scopes(kind)) == 0 {
		return
	}
	var installed []string
	for _, scopeName := range h.Scopes(kind) {
		if e.Project == "" && scopeName == connect.Project {
			continue
		}
		r, err := connect.Status(e, connect.Options{Kind: kind, Agent: h, Scope: scopeName})
		if err != nil || r.State == connect.Missing {
			continue
		}
		switch r.State {
		case connect.Broken:
			x.warn(r.File, r.Reason, h.Title+" may be unable to read it too", "fix the file")
		case connect.Stale:
			x.warn(r.File, "skillpm's entries differ from the expected ones: "+r.Reason,
				"some policies and restrictions may not be enforced in "+h.Title,
				fmt.Sprintf("skillpm connect %s --scope %s", h.ID, scopeName))
		case connect.Installed:
			installed = append(installed, string(scopeName))
		}
		for _, o := range r.Obstacles {
			x.warn(r.File, o.Message, h.Title+" ignores the file", o.Fix)
		}
	}
	if installed == nil {
		x.fact(name+", "+h.Title, "not installed")
		return
	}
	x.fact(name+", "+h.Title, "installed for "+strings.Join(installed, ", "))
}

// dockerConfig is the part of Docker's configuration that has credentials.
type dockerConfig struct {
	Auths map[string]struct {
		Auth          string `json:"auth"`
		Password      string `json:"password"`
		IdentityToken string `json:"identitytoken"`
	} `json:"auths"`
	CredsStore  string            `json:"credsStore"`
	CredHelpers map[string]string `json:"credHelpers"`
}

// checkDocker checks the credentials for OCI registries.
func checkDocker(x *exam) {
	dir := x.Getenv("DOCKER_CONFIG")
	if dir == "" {
		dir = filepath.Join(x.Paths.Home, ".docker")
	}
	file := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var config dockerConfig
	if err == nil {
		err = json.Unmarshal(data, &config)
	}
	if err != nil {
		x.error(file, "cannot be read: "+withoutText(err), "OCI registries are unreachable",
			"fix the file, or log in again with: skillpm login REGISTRY")
		return
	}
	var plainText []string
	for host, auth := range config.Auths {
		if auth.Auth != "" || auth.Password != "" || auth.IdentityToken != "" {
			plainText = append(plainText, host)
		}
	}
	slices.Sort(plainText)
	if len(plainText) > 0 {
		x.advise(file, "has credentials in plain text for "+strings.Join(plainText, ", "),
			"anyone who can read the file can use them",
			"set credsStore to a credential helper and log in again with skillpm login")
		x.checkPrivate(file, "other users of this machine can use the credentials in it")
	}
	helpers := slices.Sorted(maps.Values(config.CredHelpers))
	helpers = append(helpers, config.CredsStore)
	slices.Sort(helpers)
	for _, helper := range slices.Compact(helpers) {
		if _, err := exec.LookPath("docker-credential-" + helper); helper != "" && err != nil {
			x.error(file, "names the credential helper docker-credential-"+helper+", which does not exist",
				"registries that need it are unreachable",
				"install it, or remove it from the file and log in again with skillpm login")
		}
	}
}

// withoutText returns what is wrong with a JSON file, without any of its text.
func withoutText(err error) string {
	switch e := err.(type) { //nolint:errorlint // they come from encoding/json unwrapped
	case *json.SyntaxError:
		return fmt.Sprintf("not JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return "wrong type of " + e.Field
	case *os.PathError:
		return e.Err.Error()
	}
	return "incorrect"
}

// checkNetrc checks the credentials for git servers.
func checkNetrc(x *exam) {
	file := x.Getenv("NETRC")
	if file == "" {
		file = filepath.Join(x.Paths.Home, ".netrc")
	}
	if x.OS == "windows" || !x.checkPrivate(file, "other users of this machine can use the passwords in it") {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		x.error(file, "cannot be read", "git servers that need a password are unreachable",
			"make it readable for your user")
		return
	}
	f.Close()
}

// checkTokens looks for tokens in the environment that no source uses.
func checkTokens(x *exam) {
	used := map[string]bool{}
	for _, address := range x.addresses() {
		if u, err := url.Parse(strings.TrimPrefix(address, "git+")); err == nil {
			for _, name := range git.TokenVariables(u) {
				used[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(slices.Values(x.options.Variables)) {
		if strings.HasPrefix(name, "SKILLPM_TOKEN_") && !used[name] {
			x.advise("", name+" is set, but no required pack is on the server that it names",
				"unused tokens are a risk if they leak",
				"unset "+name+", or check that its name matches the server")
		}
	}
}

// addresses returns the addresses of packs and registries of both scopes and of the settings.
func (x *exam) addresses() []string {
	list := slices.Collect(maps.Values(x.config.Namespaces))
	for _, r := range x.config.Registries {
		list = append(list, r.URL)
	}
	for _, kind := range []string{scope.KindProject, scope.KindUser} {
		w, err := x.Machine.Open(kind, false)
		if err != nil {
			continue
		}
		list = slices.AppendSeq(list, maps.Values(w.Manifest.Namespaces))
		for _, r := range w.Manifest.Registries {
			list = append(list, r.URL)
		}
		for _, d := range slices.Concat(w.Manifest.Dependencies, w.Manifest.DevDependencies) {
			if d.Ref != nil {
				list = append(list, d.Ref.URL)
			}
		}
		for _, p := range w.Lock.Packs {
			list = append(list, p.Source)
		}
	}
	return list
}

// parallelRegistries is how many registries are asked at once.
const parallelRegistries = 4

// checkRegistries asks the configured registries whether they answer, if the options ask for it.
func checkRegistries(x *exam) {
	if !x.options.Online {
		return
	}
	w, err := x.Machine.Open(scope.KindProject, true)
	if err != nil {
		if w, err = x.Machine.Open(scope.KindUser, true); err != nil {
			return // another check reported it
		}
	}
	s, err := x.Services(x.ctx, w, base.ServiceOptions{})
	if err != nil {
		x.fail("", err, "")
		return
	}
	urls := s.Registries.Bound()
	for _, r := range slices.Concat(w.Manifest.Registries, x.config.Registries) {
		urls = append(urls, r.URL)
	}
	slices.Sort(urls)
	urls = slices.Compact(urls)
	errs := make([]error, len(urls))
	var group errgroup.Group
	group.SetLimit(parallelRegistries)
	for i, url := range urls {
		group.Go(func() error {
			errs[i] = s.Registries.Ping(x.ctx, url)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	for i, url := range urls {
		switch err := errs[i]; {
		case err == nil:
			x.fact("registry", url+" answers")
		case diag.CodeOf(err) == diag.Denied:
			x.warn(url, err.Error(), "its packs cannot be fetched", diag.HintOf(err))
		default:
			x.fail(url, err, "new packs cannot be resolved; locked packs in the store can be installed")
		}
	}
}
