package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// row is one comparison, made for every size of pack unless it has a size of its own.
type row struct {
	name    string
	about   string
	target  target
	runOnce bool // not for every size
	large   bool // for the pack of large files
	prepare func(ctx context.Context, b *bench, p benchPack) (ours, theirs contestant, err error)
}

// contestant is a command that is measured, and what is done around it without being measured.
type contestant struct {
	title   string
	missing string // why it can't be measured, "" if it can
	job     job
	before  func() error // makes the ground ready before each run; nil for nothing to do
	after   func() error // checks what a run did
}

func rows() []row {
	return []row{
		{
			name:   "cold-oci",
			about:  "install from a registry into an empty store and project, against oras pull, which unpacks the archive",
			target: target{Ratio: 1.2}, prepare: coldOCI,
		},
		{
			name:   "cold-oci-tar",
			about:  "install from a registry into an empty store and project, against oras pull of the archive and tar x",
			target: target{Ratio: 1.2}, prepare: coldOCITar,
		},
		{
			name: "cold-git", about: "install from a git server into an empty store and project, against git clone --depth 1",
			target: target{Ratio: 1.5}, prepare: coldGit,
		},
		{
			name: "add", about: "install from a git server into an empty store and project, against npm skills add",
			target: target{Ratio: 0.2}, prepare: add,
		},
		{
			name: "warm", about: "install from a full store into an empty project, against cp -r of the same files",
			target: target{Ratio: 1.5}, prepare: warm,
		},
		{
			name:   "restore",
			about:  "install from a full store into a project with a lockfile, against npm skills experimental_install",
			target: target{Ratio: 0.02}, prepare: restore,
		},
		{
			name: "nothing", about: "install when everything is installed", target: target{Wall: 0.015},
			prepare: nothing,
		},
		{name: "prompt", about: "list all installed skills for a model, with a cached list", prepare: servePrompt},
		{
			name: "discover", about: "list all installed skills for a model, without a cached list",
			target: target{Wall: 0.1}, prepare: serveFirst,
		},
		{
			name: "load", about: "load the instructions of a skill", target: target{Wall: 0.015},
			prepare: serveLoad,
		},
		{name: "which", about: "show which skill a name refers to", prepare: serveWhich},
		{
			name: "find", about: "find the installed skills for a task", target: target{Wall: 0.025},
			prepare: serveFind,
		},
		{
			name: "allow", about: "check a tool call while a skill is active", target: target{Wall: 0.015},
			prepare: serveAllow,
		},
		{
			name: "hook", about: "answer an agent's hook event while a skill is active",
			target:  target{Wall: 0.015},
			prepare: serveHook,
		},
		{
			name: "mcp", about: "start skillpm mcp, answer initialize, and end",
			target: target{Wall: 0.015}, prepare: serveMCP,
		},
		{
			name: "large-oci", about: "install a pack of large files from a registry: peak memory",
			target: target{Peak: 100e6},
			large:  true, prepare: coldOCI,
		},
		{
			name: "large-git", about: "install a pack of large files from a git server: peak memory",
			target: target{Peak: 100e6},
			large:  true, prepare: coldGit,
		},
		{
			name: "large-restore", about: "install a pack of large files from the store: peak memory",
			target: target{Peak: 100e6}, large: true, prepare: restoreLarge,
		},
		{
			name: "search", about: "search an index of --packs packs again",
			target: target{Wall: 0.05}, runOnce: true, prepare: searchLarge,
		},
		{
			name: "search-first", about: "search an index of --packs packs for the first time", runOnce: true,
			prepare: searchFirst,
		},
		{
			name: "index", about: "show one pack of an index of --packs packs, which has one file per pack",
			runOnce: true,
			prepare: infoLarge,
		},
		{
			name: "start", about: "start and print the version", target: target{Wall: 0.008},
			runOnce: true,
			prepare: start,
		},
	}
}

// install returns skillpm's installation of a pack, in the project of its own.
func (b *bench) install(p benchPack, args ...string) contestant {
	project := b.project("ours")
	return contestant{
		title: "skillpm install",
		job:   b.job("ours", project, append([]string{b.tools.skillpm.path, "install"}, args...)),
		after: func() error { return haveSkills(filepath.Join(project, ".skillpm", "plugins"), p.Skills) },
	}
}

func (b *bench) job(who, dir string, steps ...[]string) job {
	return job{Steps: steps, Dir: dir, Env: b.environFor(who, steps[0][0]), Log: filepath.Join(b.dir, who, "log")}
}

// runOnce runs a contestant without measuring it, to make a state that others start from.
func (b *bench) runOnce(ctx context.Context, c contestant) error {
	if c.before != nil {
		if err := c.before(); err != nil {
			return err
		}
	}
	if _, err := b.sys.launch(ctx, c.job); err != nil {
		return err
	}
	return c.after()
}

// missing returns why a peer can't be measured: the first of the programs it needs that is not there.
func missing(needed ...tool) string {
	for _, t := range needed {
		if t.path == "" {
			return t.name + " " + t.why
		}
	}
	return ""
}

// startClean makes a contestant start without anything: neither caches nor a project.
func (b *bench) startClean(who string) func() error {
	return func() error { return b.fresh(b.home(who), b.project(who)) }
}

func coldOCI(_ context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours := b.install(p, "oci://"+b.ociRepository(p))
	ours.before = b.startClean("ours")
	project := b.project("peer")
	theirs := contestant{title: "oras pull", missing: missing(b.tools.oras)}
	if theirs.missing == "" {
		theirs.job = b.job("peer", project,
			[]string{b.tools.oras.path, "pull", "--plain-http", b.ociRepository(p)})
		theirs.before = b.startClean("peer")
		theirs.after = func() error { return haveSkills(project, p.Skills) }
	}
	return ours, theirs, nil
}

func coldOCITar(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, theirs, err := coldOCI(ctx, b, p)
	theirs.title, theirs.missing = "oras pull + tar x", missing(b.tools.oras, b.tools.tar)
	if err != nil || theirs.missing != "" {
		return ours, theirs, err
	}
	reference, file, err := b.pushFile(ctx, p)
	theirs.job.Steps = [][]string{
		{b.tools.oras.path, "pull", "--plain-http", reference},
		{b.tools.tar.path, "-x", "-z", "-f", file},
	}
	return ours, theirs, err
}

// pushFile pushes the layer of a published pack again, as a file that oras does not unpack by itself, and returns its
// reference and the file's name.
func (b *bench) pushFile(ctx context.Context, p benchPack) (reference, file string, err error) {
	dir := b.project("peer")
	if err := b.fresh(dir); err != nil {
		return "", "", err
	}
	oras := func(args ...string) (string, error) {
		return output(ctx, dir, b.environ("peer"), b.tools.oras.path, append(args, "--plain-http")...)
	}
	text, err := oras("manifest", "fetch", b.ociRepository(p))
	if err != nil {
		return "", "", err
	}
	var manifest struct {
		Layers []struct{ Digest string }
	}
	if err := json.Unmarshal([]byte(text), &manifest); err != nil || len(manifest.Layers) != 1 {
		return "", "", fmt.Errorf("the OCI manifest of %s does not have exactly one layer: %w", p.Name, err)
	}
	repository, file := b.registry+"/"+owner+"/"+p.Name, p.Name+".tar.gz"
	if _, err := oras("blob", "fetch", "--output", file, repository+"@"+manifest.Layers[0].Digest); err != nil {
		return "", "", err
	}
	reference = repository + "-file:" + version
	_, err = oras("push", reference, file+":application/gzip")
	return reference, file, err
}

func coldGit(_ context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours := b.install(p, "git+"+b.gitURL(p))
	ours.missing = missing(b.tools.git) // for the server
	ours.before = b.startClean("ours")
	project := b.project("peer")
	theirs := contestant{title: "git clone --depth 1", missing: missing(b.tools.git)}
	if theirs.missing == "" {
		theirs.job = b.job("peer", project, []string{
			b.tools.git.path, "clone", "--quiet", "--depth", "1", b.gitURL(p),
			"clone",
		})
		theirs.before = b.startClean("peer")
		theirs.after = func() error { return haveSkills(project, p.Skills) }
	}
	return ours, theirs, nil
}

// skillsAdd returns npm's installation of a pack from git, for agents that read .agents/skills, which is where
// skillpm links to if there are no others.
func (b *bench) skillsAdd(p benchPack) contestant {
	c := contestant{title: "skills add", missing: missing(b.tools.git, b.tools.skills)}
	if c.missing == "" {
		project := b.project("peer")
		c.job = b.job("peer", project, []string{
			b.tools.skills.path, "add", b.gitURL(p), "--agent", "universal",
			"--skill", "*", "--yes",
		})
		c.before = b.startClean("peer")
		c.after = func() error { return haveSkills(filepath.Join(project, ".agents", "skills"), p.Skills) }
	}
	return c
}

func add(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, _, err := coldGit(ctx, b, p)
	return ours, b.skillsAdd(p), err
}

func warm(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, _, err := coldOCI(ctx, b, p)
	if err == nil {
		err = b.runOnce(ctx, ours)
	}
	ours.before = func() error { return b.fresh(b.project("ours")) }
	project := b.project("peer")
	theirs := contestant{title: "cp -r", missing: missing(b.tools.cp)}
	if theirs.missing == "" {
		theirs.job = b.job("peer", project, []string{b.tools.cp.path, "-r", filepath.Join(p.Dir, "skills"), "copy"})
		theirs.before = b.startClean("peer")
		theirs.after = func() error { return haveSkills(project, p.Skills) }
	}
	return ours, theirs, err
}

// frozen returns skillpm's restoring of a project that has only its manifest and its lock, after it was installed.
func (b *bench) frozen(ctx context.Context, p benchPack, installed contestant) (contestant, error) {
	ours := b.install(p, "--frozen")
	ours.title = "skillpm install --frozen"
	ours.before = func() error { return prune(b.project("ours"), "skillpm.yaml", "skillpm.lock") }
	return ours, b.runOnce(ctx, installed)
}

func restore(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, _, _ := coldGit(ctx, b, p)
	if ours.missing != "" {
		return ours, contestant{}, nil
	}
	ours, err := b.frozen(ctx, p, ours)
	if err != nil {
		return ours, contestant{}, err
	}
	theirs := b.skillsAdd(p)
	if theirs.missing != "" {
		return ours, theirs, nil
	}
	if err := b.runOnce(ctx, theirs); err != nil {
		return ours, theirs, err
	}
	theirs.title = "skills experimental_install"
	theirs.job = b.job("peer", b.project("peer"), []string{b.tools.skills.path, "experimental_install"})
	theirs.before = func() error { return prune(b.project("peer"), "skills-lock.json") }
	return ours, theirs, nil
}

func restoreLarge(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, _, _ := coldOCI(ctx, b, p)
	ours, err := b.frozen(ctx, p, ours)
	return ours, contestant{}, err
}

func nothing(ctx context.Context, b *bench, p benchPack) (contestant, contestant, error) {
	ours, _, _ := coldOCI(ctx, b, p)
	if err := b.runOnce(ctx, ours); err != nil {
		return ours, contestant{}, err
	}
	return b.install(p), contestant{}, nil
}

func start(_ context.Context, b *bench, _ benchPack) (contestant, contestant, error) {
	return contestant{
		title: "skillpm version",
		job:   b.job("ours", b.project("ours"), []string{b.tools.skillpm.path, "version"}),
		after: func() error { _, err := os.Stat(b.tools.skillpm.path); return err },
	}, contestant{}, nil
}
