package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/pathx"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/skill/agent"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/vendored"
	"github.com/skillpm/skillpm/pkg/skillpm/internal/workspace"
	"github.com/skillpm/skillpm/pkg/source/git"
)

// checkVersion checks whether the manifest requires another skillpm.
func checkVersion(x *exam) {
	if err := x.Machine.CheckVersion(x.ws.Manifest); err != nil {
		x.fail(scope.ManifestName, err, "skillpm cannot install packs in this scope")
	}
}

// checkInterrupted looks for a transaction that did not end.
func checkInterrupted(x *exam) {
	if _, err := os.Lstat(x.ws.Scope.Journal()); err == nil {
		x.error(x.ws.Rel(x.ws.Scope.Journal()), "an install was interrupted",
			"the installed packs may be a mix of old and new versions", x.command("skillpm install"))
	}
}

// checkDrift compares the manifest with the lock.
func checkDrift(x *exam) {
	w := x.ws
	if w.HasLock() {
		for _, d := range pack.Compare(w.Manifest, w.Lock) {
			x.error(d.File, d.Message, "skillpm install --frozen fails, for example in CI", d.Hint)
		}
	} else if len(w.Manifest.Dependencies)+len(w.Manifest.DevDependencies) > 0 {
		x.warn(scope.LockName, "packs are required, but skillpm.lock is missing",
			"no packs are installed, and skillpm install --frozen fails", x.command("skillpm install"))
	}
}

// maxFindings is how many findings of one kind are shown.
const maxFindings = 10

// checkInstalled compares what is installed with the lock.
func checkInstalled(x *exam) {
	if !x.ws.HasLock() {
		return
	}
	r, err := x.ws.Verify(x.ctx)
	if err != nil {
		x.fail("", err, "")
		return
	}
	for _, name := range r.Linked {
		x.advise(x.ws.Linked()[name], name+" is linked to this directory",
			"agents use the current content of the directory; skillpm install --frozen fails",
			x.command("skillpm link "+name+" --undo"))
	}
	var missing, wrong []workspace.Problem
	for _, p := range r.Problems {
		switch {
		case p.Path == x.ws.Rel(x.ws.Scope.Journal()): // checkInterrupted reports it
		case p.Missing:
			missing = append(missing, p)
		case p.Kind == workspace.KindDenied:
			x.warn(p.Path, p.Message, "agents can read the skill as a file", x.fixFor(p))
		default:
			wrong = append(wrong, p)
		}
	}
	for _, p := range wrong[:min(len(wrong), maxFindings)] {
		x.warn(p.Path, p.Message, "agents read content that differs from skillpm.lock", x.fixFor(p))
	}
	if len(wrong) > maxFindings {
		x.warn("", textx.Count(len(wrong)-maxFindings, "more difference")+" from skillpm.lock", "",
			x.command("skillpm verify"))
	}
	if len(missing) > 0 {
		message := missing[0].Path + ": " + missing[0].Message
		if len(missing) > 1 {
			message += fmt.Sprintf("; %d links or skills are missing in total", len(missing))
		}
		x.error("", message, "agents cannot find the skills", x.command("skillpm install"))
	}
}

// fixFor returns what to do about a difference from the lock.
func (x *exam) fixFor(p workspace.Problem) string {
	fix := x.command("skillpm verify --fix")
	switch p.Kind {
	case workspace.KindDenied:
		return x.command("skillpm install")
	case workspace.KindForeign:
		return p.ForeignHint()
	case workspace.KindChanged:
		return fix + "; add --force to discard local edits"
	case workspace.KindUnlisted:
		return x.command("skillpm verify --fix --force") + "; skillpm keeps a copy of the skill"
	}
	return fix
}

// checkNames looks for skills that are not available under their own name, and for local skills that shadow them.
func checkNames(x *exam) {
	for _, c := range x.layout.Conflicts {
		conflict := workspace.NewNameConflict(c)
		x.advise("", conflict.String(), "agents see one of the skills under another name",
			cmp.Or(conflict.Hint(), "choose names with aliases: in skillpm.yaml"))
	}
	layers := map[string]string{x.ws.Rel(x.ws.Scope.Skills()): x.ws.Scope.Skills()}
	if x.ws.Scope.Kind == scope.KindProject {
		user := x.Paths.User()
		layers["~/.skillpm/skills"] = user.Skills()
		layers["~/.agents/skills"] = user.Abs(".agents/skills")
	}
	for _, n := range x.layout.Named {
		for _, layer := range slices.Sorted(maps.Keys(layers)) {
			info, err := os.Lstat(filepath.Join(layers[layer], n.Skill))
			if err != nil || !info.IsDir() {
				continue // there is none, or it is a link, as skillpm makes them
			}
			x.warn(layer+"/"+n.Skill, fmt.Sprintf("the local skill %s shadows the skill from %s", n.Skill, n.Pack),
				"the name refers to the local skill, so the pack's skill is not available",
				fmt.Sprintf("rename one of the skills, for example with: skillpm install %s --skill %s --as OTHER-NAME",
					n.Pack, n.Skill))
		}
		if n.Link != n.Skill && !n.Alias {
			x.advise("", fmt.Sprintf("%s@%s is available to agents as %s", n.Skill, n.Pack, n.Link),
				"another skill already has the name "+n.Skill, "")
		}
	}
}

// checkAgentDirs checks whether skills can be linked where agents read them.
func checkAgentDirs(x *exam) {
	for _, warning := range x.linked {
		x.warn("", warning, "skillpm does not follow links that lead out of the scope",
			"replace the link with a directory, or list other agents under agents in skillpm.yaml")
	}
	for _, dir := range x.layout.Dirs {
		who := "all agents that read the directory"
		if len(dir.Agents) > 0 {
			who = strings.Join(dir.Agents, ", ")
		}
		x.fact("agents, "+x.ws.Scope.Kind, dir.Dir+" for "+who)
		at := nearest(x.ws.Scope.Abs(dir.Dir))
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			x.error(dir.Dir, at+" is not a directory", "skillpm cannot link skills in this directory",
				"move the file away")
		case !writable(at):
			x.error(dir.Dir, at+" is not writable", "skillpm cannot link skills in this directory",
				"make the directory writable for your user, or list other agents under agents in skillpm.yaml")
		}
	}
}

// nearest returns the path, or the nearest directory above it that exists.
func nearest(at string) string {
	for {
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			return at
		}
		at = filepath.Dir(at)
	}
}

// checkManifestAgents checks whether the agents that the manifest names are in use here.
func checkManifestAgents(x *exam) {
	if len(x.ws.Manifest.Agents) == 0 {
		return
	}
	projectDir := x.ws.Scope.Root
	if x.ws.Scope.Kind == scope.KindUser {
		projectDir = ""
	}
	used := x.agentsInUse(projectDir)
	for _, id := range x.ws.Manifest.Agents {
		a, err := agent.Lookup(id)
		if err != nil || a.Mark == "" || a.ID == agent.SharedID {
			continue // reading the manifest checks it, or it leaves no sign
		}
		if !slices.ContainsFunc(used, func(s agent.Agent) bool { return s.ID == id }) {
			x.advise(scope.ManifestName,
				fmt.Sprintf("skillpm.yaml lists %s, which is not detected on this machine", a.Title),
				"skillpm creates links for the agent anyway", "")
		}
	}
}

// agentsInUse returns the agents of which there is a sign, in a project or the home directory.
func (x *exam) agentsInUse(projectDir string) []agent.Agent {
	exists := func(at string) bool { return isDir(filepath.FromSlash(at)) }
	return agent.InUse(exists, projectDir, x.Paths.Home, x.Getenv)
}

// checkForeignLinks looks for links in agents' directories that skillpm did not make.
func checkForeignLinks(x *exam) {
	w := x.ws
	ours, verified := map[string]bool{}, map[string]bool{}
	for _, dir := range x.layout.Dirs {
		real := pathx.ResolveOrClean(w.Scope.Abs(dir.Dir))
		verified[real] = w.HasLock()
		for _, n := range x.layout.Named {
			ours[filepath.Join(real, n.Link)] = true
		}
	}
	seen := map[string]string{}
	for _, dir := range agent.Dirs(agent.All(), w.Scope.Kind == scope.KindUser) {
		if filepath.IsAbs(filepath.FromSlash(dir)) {
			continue
		}
		real := pathx.ResolveOrClean(w.Scope.Abs(dir))
		if first, ok := seen[real]; ok {
			if isDir(real) {
				x.fact("agents, "+w.Scope.Kind, dir+" is "+first)
			}
			continue
		}
		seen[real] = dir
		var others []string
		files, _ := os.ReadDir(w.Scope.Abs(dir)) // one that can't be read has no links
		for _, f := range files {
			at := path.Join(dir, f.Name())
			abs := w.Scope.Abs(at)
			target, err := os.Readlink(abs)
			if err != nil || ours[filepath.Join(real, f.Name())] {
				continue
			}
			dest := target
			if !filepath.IsAbs(dest) {
				dest = filepath.Join(filepath.Dir(abs), dest)
			}
			if verified[real] && pathx.ContainsStrict(w.Scope.Dir(), dest) {
				continue // checkInstalled reports it
			}
			if _, err := os.Stat(abs); err != nil {
				x.warn(at, "the link points to "+target+", which does not exist", "agents cannot read the skill",
					"remove the link, or restore its target")
				continue
			}
			others = append(others, f.Name())
		}
		if len(others) > 0 {
			x.advise(dir, "contains links that skillpm did not create: "+strings.Join(others, ", "),
				"skillpm keeps the links and does not reuse their names", "")
		}
	}
}

// checkIgnored checks whether git keeps what belongs in the repository, and leaves the rest out.
func checkIgnored(x *exam) {
	w := x.ws
	if w.Scope.Kind != scope.KindProject {
		return
	}
	links := x.links()
	plugins, skills := w.Rel(w.Scope.Plugins())+"/", w.Rel(w.Scope.Skills())+"/"
	status, err := git.StatusOf(x.ctx, w.Scope.Root,
		append([]string{scope.ManifestName, scope.LockName, plugins, skills}, links...))
	if errors.Is(err, git.ErrNoProgram) {
		x.fact("git", "not installed; skillpm cannot check which project files git ignores")
	}
	if err != nil {
		return // it is not a repository, for example
	}
	for i, name := range []string{scope.ManifestName, scope.LockName} {
		const effect = "a clone of the repository does not contain the packs that this project uses"
		if status[i].Ignored {
			x.error(name, "git ignores "+name, effect, "remove "+name+" from .gitignore, or run \"git add -f "+name+"\"")
		} else if _, err := os.Lstat(w.Scope.Abs(name)); err == nil && !status[i].Tracked {
			x.advise(name, name+" is not in the repository", effect, "run \"git add "+name+"\"")
		}
	}
	if len(links) > 0 {
		tracked, ignored := 0, 0
		for _, s := range status[4:] {
			if s.Tracked {
				tracked++
			} else if s.Ignored {
				ignored++
			}
		}
		x.fact("links for agents", fmt.Sprintf("%d, of which git tracks %d and ignores %d; "+
			"skillpm install recreates the links, so you need not commit them", len(links), tracked, ignored))
	}
	x.checkTracked(links, status[4:])
	if status[2].Tracked {
		x.warn(plugins, "installed packs are in the repository",
			"installed packs change with every update and differ between machines",
			"run \"git rm -r --cached "+plugins+"\"; to commit copies of packs, run \"skillpm vendor\"")
	}
	if isDir(w.Scope.Skills()) && status[3].Ignored {
		x.warn(skills, "git ignores the project's local skills",
			"a clone of the repository does not contain the local skills",
			"remove "+scope.DirName+" from .gitignore; the directory has its own .gitignore")
	}
	if _, err := os.Lstat(w.Scope.Ignore()); err != nil && isDir(w.Scope.Plugins()) && !status[2].Ignored {
		at := w.Rel(w.Scope.Ignore())
		x.warn(at, "is missing", "git add would include installed packs and this machine's state",
			fmt.Sprintf("create the file with: printf '%s' >%s", strings.ReplaceAll(scope.IgnoreText, "\n", `\n`), at))
	}
}

// checkTracked reports the files of skillpm that are in the repository by mistake, and the directories of agents in
// which git tracks only some of the generated links, or shows them as new. A team that commits all of them does so on
// purpose.
func (x *exam) checkTracked(links []string, status []git.Status) {
	w := x.ws
	own := []string{w.Rel(w.Scope.Links()) + "/", w.Rel(w.Scope.Backup()) + "/", w.Rel(w.Scope.State())}
	if s, err := git.StatusOf(x.ctx, w.Scope.Root, own); err == nil {
		for i, at := range own {
			if s[i].Tracked {
				x.warn(at, "is in the repository", "it differs between machines, and changes with every install",
					"run \"git rm -r --cached "+at+"\"")
			}
		}
	}
	tracked, loose := map[string][]string{}, map[string][]string{}
	total := map[string]int{}
	for i, s := range status {
		dir := path.Dir(links[i])
		total[dir]++
		switch {
		case s.Tracked:
			tracked[dir] = append(tracked[dir], path.Base(links[i]))
		case !s.Ignored:
			loose[dir] = append(loose[dir], path.Base(links[i]))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(tracked)) {
		if len(tracked[dir]) == total[dir] {
			continue
		}
		x.advise(dir, "git tracks only some of the generated links: "+textx.FirstAndMore(tracked[dir], 3),
			"each user's install may change the links, which git then shows",
			"if the team does not commit links on purpose, run \"git rm --cached "+dir+"/"+tracked[dir][0]+"\"")
	}
	for _, dir := range slices.Sorted(maps.Keys(loose)) {
		if len(tracked[dir]) == 0 {
			x.advise(dir, "git shows generated links as new files: "+textx.FirstAndMore(loose[dir], 3),
				"git add includes the links",
				"run \"skillpm install\", or add the links to "+dir+"/.gitignore, which skillpm did not create")
		}
	}
}

// links returns the links that skillpm made in agents' directories, sorted.
func (x *exam) links() []string {
	var links []string
	for _, n := range x.layout.Named {
		for _, dir := range x.layout.Dirs {
			at := dir.Dir + "/" + n.Link
			if _, err := os.Readlink(x.ws.Scope.Abs(at)); err == nil {
				links = append(links, at)
			}
		}
	}
	slices.Sort(links)
	return slices.Compact(links)
}

// checkVendored checks whether the project's own copy is what the lock says.
func checkVendored(x *exam) {
	w := x.ws
	if w.Scope.Kind != scope.KindProject || !w.HasLock() {
		return
	}
	copies := vendored.Open(w.Scope.Root, x.OS)
	if !copies.Exists() {
		return
	}
	plan, err := copies.Compare(x.ctx, w.Lock)
	if err != nil {
		x.fail(copies.Dir(), err, "")
		return
	}
	if !plan.Clean() {
		x.warn(plan.Dir, "differs from skillpm.lock",
			"\"skillpm install\" fetches the missing content, and fails without a network",
			"run \""+vendored.Command(len(plan.Edited()) > 0)+"\"; show the differences with: skillpm vendor --check")
	}
	for _, warning := range vendored.Ignored(x.ctx, w.Scope.Root, plan.Dir) {
		x.add(diag.SeverityWarning, plan.Dir, warning, "", "")
	}
}
