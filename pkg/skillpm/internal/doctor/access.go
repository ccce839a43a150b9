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

	"github.com/skillpm/skillpm/pkg/connect"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/policy"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/admission"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/base"
	"github.com/skillpm/skillpm/pkg/source/git"
	"github.com/skillpm/skillpm/pkg/source/trust"
)

// checkPolicies checks whether the policies can be read, and whether the key files that they name are as they say.
func checkPolicies(x *exam) {
	project := ""
	if s, _, err := x.Paths.Project(x.Dir); err == nil { // the home directory is not a project, for example
		project = s.Root // or a new project would be here
	}
	var effective []string
	for _, p := range x.Machine.PolicyFiles().Policies(project) {
		if err := p.Err(); err != nil {
			message := err.Error()
			if denied, ok := errors.AsType[*policy.DeniedError](err); ok && denied.Err != nil {
				message = denied.Err.Error() // without what follows from it
			}
			x.error(p.Path, message, "skillpm denies everything, and cannot install or update packs", diag.HintOf(err))
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
		rule, effect := policy.Rule{Requirement: q, Policy: p}, "skillpm denies packs from "+string(q.Match)
		if q.Signatures.NeedIdentity() && x.Keyless == nil {
			x.error(p.Path, rule.String()+" requires keyless signatures, which this build of skillpm cannot verify", effect,
				"use skillpm-keyless of the same release, or trust a public key")
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
		x.fail(log.Path(), err,
			"skillpm installs, activates, and runs nothing, because "+evaluator.Log().By+" requires the audit log")
	default:
		x.warn(log.Path(), err.Error(), "skillpm does not record operations in the audit log", diag.HintOf(err))
	}
}

// checkTrustedKeys checks whether the settings' trusted keys are files of keys.
func checkTrustedKeys(x *exam) {
	for _, name := range x.config.TrustedKeys {
		file := x.config.File(name)
		if _, err := trust.ReadKeys([]string{file}); err != nil {
			x.error(file, err.Error()+" (trusted-keys in the settings refers to this file)",
				"install, update, and try fail with --require-signature",
				"create the file with the public key, or remove the entry from trusted-keys in the settings")
		}
	}
}

// checkPublishers checks whether this build can verify the signatures that the settings require of publishers.
func checkPublishers(x *exam) {
	admin, err := x.Machine.AdminConfig()
	if err != nil || x.Keyless != nil {
		return // the check of the settings reports the error
	}
	for _, c := range []*pack.Config{admin, x.config} {
		if len(c.Publishers) == 0 {
			continue
		}
		owners := textx.FirstAndMore(slices.Sorted(maps.Keys(c.Publishers)), 5)
		x.warn(c.Path, "publishers requires keyless signatures of "+owners+", which this build of skillpm cannot verify",
			"skillpm denies the packs of these owners", "use skillpm-keyless of the same release")
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
			x.warn(r.File, r.Reason, h.Title+" may also be unable to read the file", "correct the file")
		case connect.Stale:
			x.warn(r.File, "the skillpm settings in the file are out of date: "+r.Reason,
				"skillpm may be unable to enforce policies and tool restrictions in "+h.Title,
				fmt.Sprintf("run \"skillpm connect %s --scope %s\"", h.ID, scopeName))
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
		x.error(file, "cannot read the file: "+withoutText(err), "OCI registries are unreachable",
			"correct the file, or log in again with: skillpm login REGISTRY")
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
		x.advise(file, "stores credentials in plain text for "+strings.Join(plainText, ", "),
			"anyone who can read the file can use the credentials",
			"set credsStore to a credential helper, and log in again with: skillpm login REGISTRY")
		x.checkPrivate(file, "other users of this machine can use the credentials in the file")
	}
	helpers := slices.Sorted(maps.Values(config.CredHelpers))
	helpers = append(helpers, config.CredsStore)
	slices.Sort(helpers)
	for _, helper := range slices.Compact(helpers) {
		if _, err := exec.LookPath("docker-credential-" + helper); helper != "" && err != nil {
			x.error(file, "names the credential helper docker-credential-"+helper+", which does not exist",
				"skillpm cannot log in to registries that use the helper",
				"install the helper, or remove it from the file and log in again with: skillpm login REGISTRY")
		}
	}
}

// withoutText returns what is wrong with a JSON file, without any of its text.
func withoutText(err error) string {
	switch e := err.(type) { //nolint:errorlint // they come from encoding/json unwrapped
	case *json.SyntaxError:
		return fmt.Sprintf("invalid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return "the value of " + e.Field + " has the wrong type"
	case *os.PathError:
		return e.Err.Error()
	}
	return "invalid content"
}

// checkNetrc checks the credentials for git servers.
func checkNetrc(x *exam) {
	file := x.Getenv("NETRC")
	if file == "" {
		file = filepath.Join(x.Paths.Home, ".netrc")
	}
	if x.OS == "windows" || !x.checkPrivate(file, "other users of this machine can use the passwords in the file") {
		return
	}
	f, err := os.Open(file)
	if err != nil {
		x.error(file, "cannot read the file", "skillpm cannot log in to git servers",
			"make the file readable for your user")
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
			x.advise("", name+" is set, but no required pack comes from the server in its name",
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
	var group bug.Group
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
			x.warn(url, err.Error(), "skillpm cannot fetch packs from this registry", diag.HintOf(err))
		default:
			x.fail(url, err, "skillpm can install locked packs from the store, but cannot resolve new packs")
		}
	}
}
