package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/textx"
	"github.com/skillpm/skillpm/pkg/policy/sandbox"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/store"
)

// checkSettings reads the settings of the user and of the administrator.
func checkSettings(x *exam) {
	config, err := x.Machine.UserConfig()
	if err == nil {
		x.config = config
		_, err = x.Machine.AdminConfig()
	}
	if err != nil {
		x.fail("", err, "commands that install packs fail until you fix the problem")
	}
}

// A clock outside these years is wrong.
const (
	firstYear = 2026
	lastYear  = 2099
)

// checkClock compares the clock with recorded times: the age of releases depends on it, and certificates.
func checkClock(x *exam) {
	now := x.Now()
	if now.Year() < firstYear || now.Year() > lastYear {
		x.error("", "the system clock shows "+now.UTC().Format(time.DateOnly),
			"skillpm rejects the certificates of registries, and release ages are wrong", "set the system clock")
		return
	}
	path, latest := x.latestTime()
	if latest.Sub(now) > 24*time.Hour {
		x.warn(path, fmt.Sprintf("was written on %s, but the system clock shows %s",
			latest.UTC().Format(time.DateOnly), now.UTC().Format(time.DateOnly)),
			"the clock is or was wrong, and minimum release ages depend on the clock",
			"set the system clock; if the clock is correct, run \"touch "+path+"\"")
	}
}

// latestTime returns the latest recorded time: of lockfiles, manifests and states, and of known releases.
func (x *exam) latestTime() (path string, latest time.Time) {
	consider := func(file string) {
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(latest) {
			path, latest = file, info.ModTime()
		}
	}
	scopes := []scope.Scope{x.Paths.User()}
	if s, found := x.project(); found {
		scopes = append(scopes, s)
	}
	for _, s := range scopes {
		consider(s.Lock())
		consider(s.Manifest())
		consider(s.State())
	}
	records := filepath.Join(x.Paths.State, "seen")
	files, _ := os.ReadDir(records) // nothing was seen
	for _, f := range files {
		file := filepath.Join(records, f.Name())
		consider(file)
		if data, err := os.ReadFile(file); err == nil && f.Type().IsRegular() {
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data))); err == nil && at.After(latest) {
				path, latest = file, at
			}
		}
	}
	return path, latest
}

// checkStore checks whether the store can be written, and for leftovers and damage in it.
func checkStore(x *exam) {
	dir := x.Paths.Store()
	if at := nearest(dir); !writable(at) {
		x.warn(dir, at+" is not writable", "skillpm can install packs from the store, but cannot fetch new packs",
			"make the directory writable for your user, or set XDG_CACHE_HOME to a writable directory")
	}
	s, err := x.Machine.Store()
	if err != nil {
		x.fail(dir, err, "")
		return
	}
	r, err := s.GC(x.ctx, store.GCOptions{Unused: x.unused, Now: x.Now(), DryRun: true})
	if err != nil {
		x.warn(dir, err.Error(), "", diag.HintOf(err))
		return
	}
	x.fact("store", fmt.Sprintf("%s, %s, %d KiB", dir, textx.Count(r.Kept+len(r.Removed), "skill"),
		(r.KeptBytes+r.Bytes)/1024))
	if r.Leftovers > 0 {
		noun := "leftovers"
		if r.Leftovers == 1 {
			noun = "leftover"
		}
		x.advise(dir, fmt.Sprintf("contains %d %s from interrupted processes",
			r.Leftovers, noun), "the leftovers use disk space",
			"run \"skillpm cache gc\"")
	}
	damaged := 0
	for _, tree := range r.Removed {
		if tree.Files == 0 {
			damaged++
		}
	}
	if damaged > 0 {
		x.warn(dir, "contains "+textx.Count(damaged, "damaged skill"),
			"skillpm fetches damaged skills again when a command needs the skills",
			"run \"skillpm cache verify\"")
	}
}

// Space on a file system below which doctor warns, and below which it is an error.
const (
	littleSpace = 256 << 20
	noSpace     = 16 << 20
)

// checkSpace checks the free space for the store and in the project.
func checkSpace(x *exam) {
	dirs := []string{x.Paths.Cache}
	if s, found := x.project(); found {
		dirs = append(dirs, s.Root)
	}
	for _, dir := range dirs {
		free, known := freeSpace(nearest(dir))
		if !known || free >= littleSpace {
			continue
		}
		severity := diag.SeverityWarning
		if free < noSpace {
			severity = diag.SeverityError
		}
		x.add(severity, dir, fmt.Sprintf("the file system has %d MiB left", free>>20), "large packs may not fit",
			"free disk space, for example with: skillpm cache gc")
	}
}

// checkKey checks the secret that authenticates states and journals.
func checkKey(x *exam) {
	const effect = "every command hashes all installed files, and skillpm cannot finish an interrupted install"
	file := x.Machine.KeyFile()
	info, err := os.Lstat(file)
	switch {
	case err != nil && !writable(nearest(filepath.Dir(file))):
		x.warn(file, "cannot create the file: its directory is not writable", effect,
			"make the directory writable for your user, or set XDG_STATE_HOME to a writable directory")
	case err != nil:
	case !info.Mode().IsRegular() || !x.Machine.HasKey():
		x.warn(file, "is not a valid key", effect, "remove "+file+"; skillpm creates a new key")
	default:
		x.checkPrivate(file, "other users of this machine could forge skillpm's installation state")
	}
}

// checkPrivate checks whether others may read a file. It returns false if there is no such file.
func (x *exam) checkPrivate(file, effect string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if mode := info.Mode().Perm(); x.OS != "windows" && mode&0o077 != 0 {
		x.warn(file, fmt.Sprintf("other users can read the file (mode %04o)",
			mode), effect, "restrict access with: chmod 600 "+file)
	}
	return true
}

// checkFileSystem finds out what the file systems can do.
func checkFileSystem(x *exam) {
	at := nearest(x.Paths.Store())
	if s, found := x.project(); found {
		if foldsCase(s.Manifest()) {
			x.fact("file system", "ignores case; skillpm rejects skills whose files differ only in case")
		}
		if !sameDevice(at, s.Root) {
			x.fact("file system", "the store and the project are on different file systems; installs copy files")
			return
		}
	}
	switch {
	case !writable(at):
	case clones(at):
		x.fact("file system", "supports copy-on-write; installs copy no data")
	default:
		x.fact("file system", "does not support copy-on-write; installs copy files, unless link-mode is hardlink")
	}
}

// foldsCase reports whether a file is also found under its name in upper case.
func foldsCase(file string) bool {
	a, err := os.Lstat(file)
	if err != nil {
		return false
	}
	b, err := os.Lstat(filepath.Join(filepath.Dir(file), strings.ToUpper(filepath.Base(file))))
	return err == nil && os.SameFile(a, b)
}

// programTime is how long a program may take to print its version.
const programTime = 5 * time.Second

// checkGit checks the git program, if the settings prefer one.
func checkGit(x *exam) {
	program := x.config.Git
	if program == "" {
		return
	}
	const effect = "skillpm cannot fetch packs from git repositories"
	path, err := exec.LookPath(program)
	if err != nil {
		x.error("", "the settings use the git program "+program+", which does not exist", effect,
			"install the program, or remove git: from the settings to use the built-in client")
		return
	}
	ctx, cancel := context.WithTimeout(x.ctx, programTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Dir = filepath.VolumeName(path) + string(filepath.Separator)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	version := strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(version, "git version ") {
		x.error(path, "the program does not print a git version",
			effect, "remove git: from the settings to use the built-in client")
		return
	}
	x.fact("git", version+", "+path)
}

// checkSandbox tries whether scripts can be confined on this machine.
func checkSandbox(x *exam) {
	if len(x.options.Helper) == 0 {
		return
	}
	if err := runtime.CheckConfinement(x.ctx, x.options.Helper); err != nil {
		x.fact("sandbox", "none")
		x.advise("", "skillpm cannot confine scripts of skills: "+err.Error(),
			"skillpm does not run scripts that require confinement",
			"allow user namespaces on a kernel with Landlock, or set execution: {unavailable: allow} in the machine's policy")
		return
	}
	x.fact("sandbox", fmt.Sprintf("available (namespaces, Landlock version %d)", sandbox.Version()))
}
