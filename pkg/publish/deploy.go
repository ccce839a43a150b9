package publish

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/lint"
	"github.com/skillpm/skillpm/pkg/pack/bundle"
	"github.com/skillpm/skillpm/pkg/runtime/catalog"
	"github.com/skillpm/skillpm/pkg/skill"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// The scopes that a skill is deployed to.
const (
	DeployEnterprise = "enterprise" // all users of this machine
	DeployPersonal   = "personal"   // this user
	DeployProject    = "project"    // users of this project
)

// DeployScopes returns the scopes, the strongest first.
func DeployScopes() []string { return []string{DeployEnterprise, DeployPersonal, DeployProject} }

// DeployOptions configure [Client.Deploy].
type DeployOptions struct {
	Dir    string // the skill's directory, absolute or relative to the client's directory
	Scope  string // one of DeployScopes
	Force  bool   // replace a skill that differs, and keep it as a backup
	DryRun bool   // change nothing

	// Catalog has the profile and the project, which determine the directory of a layer.
	Catalog catalog.Options
}

// The actions of a deployment.
const (
	DeployAdded     = "added"
	DeployReplaced  = "replaced"
	DeployUnchanged = "unchanged"
)

// DeployReport is what a deployment did, or with DryRun would do.
type DeployReport struct {
	Skill    string         `json:"skill"`
	From     string         `json:"from"`
	Dir      string         `json:"dir"` // the deployed skill's directory
	Scope    string         `json:"scope"`
	Layer    string         `json:"layer"` // the layer's name in the profile
	Profile  string         `json:"profile"`
	Action   string         `json:"action"` // "" if the skill is not valid
	Backup   string         `json:"backup,omitempty"`
	Digest   string         `json:"digest"`
	Files    int            `json:"files"`
	DryRun   bool           `json:"dryRun,omitempty"`
	InForce  bool           `json:"ownName"`            // the skill's name resolves to it
	Winner   string         `json:"winner,omitempty"`   // the skill's directory that the name resolves to instead
	Shadowed []string       `json:"shadowed,omitempty"` // the directories of skills that it shadows
	Valid    bool           `json:"valid"`
	Findings []diag.Finding `json:"findings"`
	Check    lint.Report    `json:"-"` // findings with their lines
}

// Deploy copies a skill into the first directory that the profile has for the scope. It validates the skill under the
// profile first and changes nothing if there are error findings, even with Force. An existing skill is replaced
// completely or not at all.
func (c *Client) Deploy(ctx context.Context, o DeployOptions) (*DeployReport, error) {
	if err := checkScope(o.Scope); err != nil {
		return nil, err
	}
	p := o.Catalog.Profile
	source := c.Machine.Abs(o.Dir)
	tree, err := readSkill(source)
	if err != nil {
		return nil, err
	}
	layer, dir, err := o.layer()
	if err != nil {
		return nil, err
	}
	name, unnamed := deployedName(source, p)
	r := &DeployReport{
		Skill: cmp.Or(name, filepath.Base(source)), From: source, Dir: filepath.Join(dir, name), Scope: o.Scope,
		Layer: layer, Profile: p.ID,
		Digest: tree.Inventory.Digest(), Files: len(tree.Inventory), DryRun: o.DryRun,
	}
	id, err := lintProfile(p)
	if err != nil {
		return nil, err
	}
	r.Check, err = c.Validate(ctx, ValidateOptions{Paths: []string{o.Dir}, Profiles: []string{id}})
	if err != nil {
		return nil, err
	}
	r.Findings = append([]diag.Finding{}, r.Check.Findings...)
	if r.Valid = r.Check.OK(); !r.Valid {
		return r, nil
	}
	if unnamed != nil {
		return nil, unnamed
	}
	if err := c.mayCreate(o.Scope, r.Skill); err != nil {
		return nil, err
	}
	if err := c.install(ctx, r, tree, o); err != nil {
		return nil, deployError(r, err)
	}
	if o.DryRun {
		return r, nil
	}
	return r, r.effect(ctx, o.Catalog)
}

func checkScope(s string) error {
	if slices.Contains(DeployScopes(), s) {
		return nil
	}
	if s == "" {
		return diag.Errorf(diag.Usage, "skillpm deploy requires --layer").
			WithHint("use --layer enterprise, personal, or project")
	}
	return diag.Errorf(diag.Usage, "unknown layer %q", s).WithHint("use --layer enterprise, personal, or project")
}

// readSkill lists the files that a pack of the skill would contain.
func readSkill(dir string) (tree bundle.Tree, err error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tree, diag.Errorf(diag.NotFound, "%s does not exist", dir).WithHint("use the directory of a skill")
	case err != nil:
		return tree, err
	case !info.IsDir():
		return tree, diag.Errorf(diag.Usage, "%s is not a directory", dir).WithHint("use the directory of a skill")
	}
	tree, err = bundle.DirTree(safefile.Dir(dir), ".", nil)
	if err != nil {
		return tree, diag.Errorf(diag.Invalid, "%s: %w", dir, err).
			WithHint("check the skill with: skillpm validate %s", dir)
	}
	if _, ok := tree.Inventory.Find(skill.File); !ok {
		return tree, diag.Errorf(diag.NotFound, "%s does not contain %s", dir, skill.File).
			WithHint("use the directory of a skill, or create one with: skillpm new my-skill")
	}
	return tree, nil
}

// deployedName returns the name in the skill's frontmatter, or else the name of its directory.
func deployedName(dir string, p *profile.Profile) (string, error) {
	k, err := catalog.ParseFile(filepath.Join(dir, skill.File), p)
	if err != nil {
		return "", err
	}
	name := cmp.Or(k.Declared, filepath.Base(dir))
	if err := bundle.CheckPath(name); err != nil || strings.Contains(name, "/") || strings.HasPrefix(name, ".") {
		return "", diag.Errorf(diag.Invalid, "%q cannot be the name of a skill's directory", name).
			WithHint("use another name in the frontmatter of the skill")
	}
	return name, nil
}

// lintProfile returns the id of the profile that skills are validated under. For a user's own profile, this is the
// first profile with the same frontmatter schema.
func lintProfile(p *profile.Profile) (string, error) {
	if !p.User {
		return p.ID, nil
	}
	all, err := profile.All()
	if err != nil {
		return "", err
	}
	if i := slices.IndexFunc(all, func(q *profile.Profile) bool { return q.Schema == p.Schema }); i >= 0 {
		return all[i].ID, nil
	}
	return profile.Default, nil
}

// layer returns the directory for the skills of the scope: the first one in the profile's layer of that name, or else
// the first one that belongs to the scope.
func (o DeployOptions) layer() (name, dir string, err error) {
	p := o.Catalog.Profile
	var have []string
	for _, byName := range []bool{true, false} {
		for _, l := range p.Layers {
			for _, d := range l.On(cmp.Or(o.Catalog.OS, runtime.GOOS)) {
				target, kind := o.targetOf(d)
				if target == "" {
					continue
				}
				if !slices.Contains(have, kind) {
					have = append(have, kind)
				}
				if byName && l.Name == o.Scope || !byName && kind == o.Scope {
					return l.Name, target, nil
				}
			}
		}
	}
	if o.Scope == DeployProject && o.Catalog.Project == "" {
		return "", "", diag.Errorf(diag.Usage, "the current directory is not in a project").
			WithHint("change to the directory of a project, or use --layer personal")
	}
	return "", "", diag.Errorf(diag.Usage, "profile %s does not have the layer %s", p.ID, o.Scope).
		WithHint("use --layer %s", textx.OneOf(have))
}

// targetOf returns the path of a profile's directory and its scope. Both are "" for directories of plugins, and for
// those of a project if there is none.
func (o DeployOptions) targetOf(dir string) (target, kind string) {
	local := filepath.FromSlash(dir)
	switch rest, ok := strings.CutPrefix(dir, "{enterprise}/"); {
	case ok && path.Base(rest) == "plugins", dir == "{plugins}":
		return "", ""
	case ok:
		return filepath.Join(o.Catalog.Paths.Enterprise, filepath.FromSlash(rest)), DeployEnterprise
	case strings.HasPrefix(dir, "~/"):
		return filepath.Join(o.Catalog.Paths.Home, local[2:]), DeployPersonal
	case filepath.IsAbs(local):
		return filepath.Clean(local), DeployEnterprise
	case o.Catalog.Project == "":
		return "", ""
	}
	return filepath.Join(o.Catalog.Project, local), DeployProject
}

// install writes the skill to its directory unless it has the same content, and sets r.Action and r.Backup.
func (c *Client) install(ctx context.Context, r *DeployReport, tree bundle.Tree, o DeployOptions) error {
	dir, err := layerDir(filepath.Dir(r.Dir), o)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, r.Skill)
	switch old, err := exists(target); {
	case err != nil:
		return err
	case old == "":
		r.Action = DeployAdded
	case old == r.Digest:
		r.Action = DeployUnchanged
		return nil
	case !o.Force:
		return diag.Errorf(diag.Conflict, "%s already exists with different content", r.Dir).
			WithHint("compare the skill with %s, then use --force to replace %[1]s and keep a backup", r.Dir)
	default:
		r.Action = DeployReplaced
		r.Backup = c.backup(dir, r.Skill)
	}
	if o.DryRun {
		return nil
	}
	sweepStages(filepath.Dir(dir), c.Now())
	r.Backup, err = deploy(ctx, tree, target, r.Backup)
	if errors.Is(err, fs.ErrExist) {
		return diag.Errorf(diag.Conflict, "another process created %s", r.Dir).
			WithHint("run the command again")
	}
	return err
}

// layerDir returns a layer's directory with links resolved. A project's layer must be inside the project, so that a
// link in an untrusted project cannot redirect the copy.
func layerDir(dir string, o DeployOptions) (string, error) {
	real, err := pathx.ResolveDir(dir)
	if err != nil || o.Scope != DeployProject {
		return real, err
	}
	root, err := pathx.ResolveExisting(o.Catalog.Project)
	if err != nil || !pathx.ContainsStrict(root, real) {
		return "", diag.Errorf(diag.Denied, "%s is a link that leads out of the project, to %s", dir, real).
			WithHint("remove the link")
	}
	return real, nil
}

// exists returns the digest of the directory at target, "" if there is none, and "?" if it cannot be a skill.
func exists(target string) (string, error) {
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", diag.Errorf(diag.Conflict, "%s is not a directory",
			target).WithHint("move %s away, then run the command again", target)
	}
	inv, err := bundle.Sum(safefile.Dir(target), ".")
	if err != nil {
		return "?", nil //nolint:nilerr // it has files that a skill cannot have, so it differs
	}
	return inv.Digest(), nil
}

// backup returns the path for a replaced skill. It is outside the layer, so that no agent finds the backup.
func (c *Client) backup(dir, name string) string {
	above := filepath.Dir(dir)
	in := filepath.Join(above, ".skillpm-backup")
	if base := filepath.Base(above); base == scope.DirName || base == "skillpm" {
		in = filepath.Join(above, "backup")
	}
	return filepath.Join(in, name+"-"+c.Now().UTC().Format("20060102-150405.000"))
}

// deploy copies a tree to target, and moves an existing directory to backup, or to a similar name if that is taken.
// It syncs both to disk and returns the path of the backup.
func deploy(ctx context.Context, tree bundle.Tree, target, backup string) (backedUp string, err error) {
	dir := filepath.Dir(target)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// Stage outside the layer, because agents would read an incomplete copy inside it as a skill.
	stage, err := os.MkdirTemp(filepath.Dir(dir), stagePrefix)
	if err != nil {
		return "", err
	}
	installed := false
	defer func() {
		if err = errors.Join(err, os.RemoveAll(stage)); err != nil && installed {
			err = &installedError{err}
		}
	}()
	staged := filepath.Join(stage, filepath.Base(target))
	if err := copyTree(ctx, tree, staged); err != nil {
		return "", err
	}
	if backup == "" {
		err = moveNew(staged, target)
	} else {
		backedUp, err = replaceOld(staged, target, backup)
	}
	if err != nil {
		return "", err
	}
	installed = true
	return backedUp, atomicfile.SyncDir(dir)
}

// installedError is an error that occurred after the skill was installed.
type installedError struct{ error }

func (e *installedError) Unwrap() error { return e.error }

// deployError adds hints to errors of permissions and to errors that occurred after the skill was installed.
func deployError(r *DeployReport, err error) error {
	if installed, ok := errors.AsType[*installedError](err); ok {
		e := diag.Errorf(diag.Internal, "skillpm deployed the skill %s to %s, but cannot clean up: %w", r.Skill, r.Dir,
			installed.error)
		if r.Backup != "" {
			return e.WithHint("find the previous skill in %s", r.Backup)
		}
		return e.WithHint("remove the directories %s* next to %s", stagePrefix, r.Dir)
	}
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errReadOnly()) {
		return err
	}
	e := diag.Errorf(diag.Denied, "cannot write to %s: %w", filepath.Dir(r.Dir), err)
	if r.Scope == DeployEnterprise {
		return e.WithHint("run the command as root, for example with sudo")
	}
	return e.WithHint("make the directory writable for your user")
}

// effect records which skill the name resolves to after the deployment, and which skills are shadowed.
func (r *DeployReport) effect(ctx context.Context, o catalog.Options) error {
	c, err := catalog.Open(ctx, o)
	if err != nil {
		return err
	}
	claims := c.Which(r.Skill)
	if claims.Winner == nil {
		return nil
	}
	if r.InForce = sameDir(claims.Winner.Dir, r.Dir); !r.InForce {
		r.Winner = claims.Winner.Dir
		return nil
	}
	for _, e := range claims.Shadowed {
		r.Shadowed = append(r.Shadowed, e.Dir)
	}
	return nil
}

func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
