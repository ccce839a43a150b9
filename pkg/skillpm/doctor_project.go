package skillpm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skillpm/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/workspace"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// checkVersion looks whether the manifest asks for another skillpm.
func checkVersion(x *examination) {
	if err := x.client.machine.NewEnough(x.work.Manifest); err != nil {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Path: scope.ManifestName, Message: err.Error(),
			Means: "skillpm refuses to install here", Fix: diag.HintOf(err),
		})
	}
}

// checkInterrupted looks for a transaction that did not come to its end.
func checkInterrupted(x *examination) {
	if _, err := os.Lstat(x.work.Scope.Journal()); err != nil {
		return
	}
	x.find(Diagnosis{
		Severity: diag.SeverityError, Path: x.work.Rel(x.work.Scope.Journal()), Message: "an install was interrupted",
		Means: "what is installed may be partly the old and partly the new", Fix: x.command("skillpm install"),
	})
}

// command is a command for the scope that is looked at.
func (x *examination) command(text string) string {
	if x.work.Scope.Kind == scope.KindUser {
		return text + " --scope user"
	}
	return text
}

// checkDrift compares the manifest with the lock.
func checkDrift(x *examination) {
	w := x.work
	if !w.Locked() {
		if len(w.Manifest.Dependencies)+len(w.Manifest.DevDependencies) > 0 {
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: scope.LockName, Message: "packs are required and there is no skillpm.lock",
				Means: "nothing is installed, and --frozen fails", Fix: x.command("skillpm install"),
			})
		}
		return
	}
	for _, d := range pack.Compare(w.Manifest, w.Lock) {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Path: d.File, Message: d.Message,
			Means: "skillpm install --frozen fails, as in CI", Fix: d.Hint,
		})
	}
}

// checkInstalled compares what is installed with the lock.
func checkInstalled(x *examination) {
	if !x.work.Locked() {
		return
	}
	r, err := x.work.Verify(x.ctx)
	if err != nil {
		x.find(Diagnosis{Severity: diag.SeverityError, Message: err.Error(), Fix: diag.HintOf(err)})
		return
	}
	for _, pack := range r.Linked {
		x.find(Diagnosis{
			Severity: diag.SeverityAdvice, Path: x.work.Linked()[pack], Message: pack + " is linked to this directory",
			Means: "it is what is in the directory now, not what skillpm.lock says; install --frozen refuses it", Fix: x.command("skillpm unlink " + pack),
		})
	}
	gone, wrong := 0, 0
	first := Problem{}
	for _, p := range r.Problems {
		switch {
		case p.Path == x.work.Rel(x.work.Scope.Journal()):
		case p.Missing:
			if gone++; gone == 1 {
				first = p
			}
		case wrong < mostTold:
			wrong++
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: p.Path, Message: p.Message,
				Means: "agents read something else than skillpm.lock says",
				Fix:   x.mends(p),
			})
		default:
			wrong++
		}
	}
	if wrong > mostTold {
		x.find(Diagnosis{Severity: diag.SeverityWarning, Message: fmt.Sprintf("%d more differences from skillpm.lock", wrong-mostTold), Fix: x.command("skillpm verify")})
	}
	if gone > 0 {
		message := fmt.Sprintf("%s %s", first.Path, first.Message)
		if gone > 1 {
			message += fmt.Sprintf(", and %d more are", gone-1)
		}
		x.find(Diagnosis{
			Severity: diag.SeverityError, Message: message, Means: "agents don't find these skills", Fix: x.command("skillpm install"),
		})
	}
}

// mends says what to do about a difference from the lock.
func (x *examination) mends(p Problem) string {
	fix := x.command("skillpm verify --fix")
	switch p.Kind {
	case workspace.KindForeign:
		return ForeignHint(p.Path)
	case workspace.KindChanged:
		return fix + ", with --force if it was edited and the edit is not wanted"
	case workspace.KindStranger:
		return fix + " --force, which keeps a copy of it"
	}
	return fix
}

// mostTold is how many findings of one kind are told.
const mostTold = 10

// checkNames looks for skills that have another name than their own, and for hand-written ones that stand before them.
func checkNames(x *examination) {
	for _, c := range x.layout.Conflicts {
		x.find(Diagnosis{
			Severity: diag.SeverityAdvice, Message: nameConflict(c).String(),
			Means: "agents see the others under another name", Fix: "aliases in skillpm.yaml choose the names, as does skillpm install PACK --skill NAME --as OTHER",
		})
	}
	layers := map[string]string{x.work.Rel(x.work.Scope.Skills()): x.work.Scope.Skills()}
	if x.work.Scope.Kind == scope.KindProject {
		user := x.client.Paths.User()
		layers["~/.skillpm/skills"] = user.Skills()
		layers["~/.agents/skills"] = user.Abs(".agents/skills")
	}
	for _, n := range x.layout.Named {
		for _, layer := range slices.Sorted(maps.Keys(layers)) {
			info, err := os.Lstat(filepath.Join(layers[layer], n.Skill))
			if err != nil || !info.IsDir() {
				continue // there is none, or it is a link, as skillpm makes them
			}
			x.find(Diagnosis{
				Severity: diag.SeverityWarning, Path: layer + "/" + n.Skill,
				Message: fmt.Sprintf("a hand-written skill %s stands before that of %s", n.Skill, n.Pack),
				Means:   "the name means the hand-written one, so that of the pack is not used by it",
				Fix:     fmt.Sprintf("rename one of them: skillpm install %s --skill %s --as OTHER-NAME", n.Pack, n.Skill),
			})
		}
		if n.Link != n.Skill && !n.Alias {
			x.find(Diagnosis{
				Severity: diag.SeverityAdvice, Message: fmt.Sprintf("%s@%s is %s for agents", n.Skill, n.Pack, n.Link),
				Means: "something else has its own name",
			})
		}
	}
}

// checkIgnored looks whether git keeps what belongs in the repository, and leaves the rest out.
func checkIgnored(x *examination) {
	w := x.work
	if w.Scope.Kind != scope.KindProject {
		return
	}
	paths := []string{scope.ManifestName, scope.LockName, w.Rel(w.Scope.Plugins()) + "/", w.Rel(w.Scope.Skills()) + "/"}
	links := x.linkPaths()
	paths = append(paths, links...)
	status, err := git.StatusOf(x.ctx, w.Scope.Root, paths)
	if errors.Is(err, git.ErrNoProgram) {
		x.fact("git", "is not installed: whether it ignores files of the project is not known")
	}
	if err != nil {
		return // it is no repository, or git itself has to be asked
	}
	for i, name := range paths[:2] {
		if status[i].Ignored {
			x.find(Diagnosis{
				Severity: diag.SeverityError, Path: name, Message: "git ignores " + name,
				Means: "a clone does not get the packs that this project uses", Fix: "take it out of .gitignore, or git add -f " + name,
			})
		} else if _, err := os.Lstat(w.Scope.Abs(name)); err == nil && !status[i].Tracked {
			x.find(Diagnosis{
				Severity: diag.SeverityAdvice, Path: name, Message: name + " is not in the repository",
				Means: "a clone does not get the packs that this project uses", Fix: "git add " + name,
			})
		}
	}
	x.linkFacts(links, status[4:])
	if status[2].Tracked {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: paths[2], Message: "installed packs are in the repository",
			Means: "they change with every update and on every machine", Fix: "git rm -r --cached " + paths[2] + "; skillpm vendor keeps a copy that is meant for it",
		})
	}
	if isDir(w.Scope.Skills()) && status[3].Ignored {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: paths[3], Message: "git ignores the project's hand-written skills",
			Means: "a clone does not get them", Fix: "take " + scope.DirName + " out of .gitignore: skillpm has one of its own in it",
		})
	}
	if _, err := os.Lstat(w.Scope.Ignore()); err != nil && isDir(w.Scope.Plugins()) && !status[2].Ignored {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: w.Rel(w.Scope.Ignore()), Message: "is missing",
			Means: "git add takes installed packs and this machine's state into the repository",
			Fix:   fmt.Sprintf("printf '%s' >%s", strings.ReplaceAll(scope.IgnoreText, "\n", `\n`), w.Rel(w.Scope.Ignore())),
		})
	}
}

// linkPaths returns the links that skillpm made in agents' directories, sorted.
func (x *examination) linkPaths() []string {
	var links []string
	for _, n := range x.layout.Named {
		for _, dir := range x.layout.Dirs {
			at := dir.Dir + "/" + n.Link
			if _, err := os.Readlink(x.work.Scope.Abs(at)); err == nil {
				links = append(links, at)
			}
		}
	}
	slices.Sort(links)
	return slices.Compact(links)
}

// linkFacts says whether git has the links for agents, which every install makes anew.
func (x *examination) linkFacts(links []string, status []git.Status) {
	tracked, ignored := 0, 0
	for _, s := range status {
		switch {
		case s.Tracked:
			tracked++
		case s.Ignored:
			ignored++
		}
	}
	if len(links) == 0 {
		return
	}
	says := fmt.Sprintf("%d, of which git has %d and ignores %d: they need not be committed, skillpm install makes them anew", len(links), tracked, ignored)
	x.fact("links for agents", says)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// checkVendored looks whether the project's own copy is what the lock says.
func checkVendored(x *examination) {
	w := x.work
	if w.Scope.Kind != scope.KindProject || !w.Locked() {
		return
	}
	kept := vendored.Open(w.Scope.Root, x.client.OS)
	if !kept.Written() {
		return
	}
	plan, err := kept.Compare(x.ctx, w.Lock)
	if err != nil {
		x.find(Diagnosis{Severity: diag.SeverityError, Path: kept.Dir(), Message: err.Error(), Fix: diag.HintOf(err)})
		return
	}
	if !plan.Clean() {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: plan.Dir, Message: "is not what skillpm.lock says",
			Means: "installs fetch what differs, and fail where there is no network", Fix: vendorCommand(len(plan.Edited()) > 0) + ", and skillpm vendor --check to see what differs",
		})
	}
	for _, warning := range ignoredCopy(x.ctx, w.Scope.Root, plan.Dir) {
		x.find(Diagnosis{Severity: diag.SeverityWarning, Path: plan.Dir, Message: warning})
	}
}
