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
		x.fail("", err, "no command that installs works before it is mended")
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
		x.error("", "the clock says "+now.UTC().Format(time.DateOnly),
			"certificates of registries are refused, and the ages of releases are wrong", "set the clock")
		return
	}
	path, latest := x.latestTime()
	if latest.Sub(now) > 24*time.Hour {
		x.warn(path, fmt.Sprintf("was written at %s, and the clock says %s",
			latest.UTC().Format(time.DateOnly), now.UTC().Format(time.DateOnly)),
			"the clock is wrong now, or it was then: a minimum release age counts from what it said",
			"set the clock; if it is right, touch the file")
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
		x.warn(dir, at+" is not writable", "what is in the store can be installed, and nothing can be fetched",
			"make it writable for you, or set XDG_CACHE_HOME to a directory that is")
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
	x.fact("store", fmt.Sprintf("%s, %d trees, %d KiB", dir, r.Kept+len(r.Removed), (r.KeptBytes+r.Bytes)/1024))
	if r.Leftovers > 0 {
		noun := "leftovers"
		if r.Leftovers == 1 {
			noun = "leftover"
		}
		x.advise(dir, fmt.Sprintf("has %d %s of processes that died", r.Leftovers, noun), "they take room",
			"skillpm cache gc")
	}
	damaged := 0
	for _, tree := range r.Removed {
		if tree.Files == 0 {
			damaged++
		}
	}
	if damaged > 0 {
		x.warn(dir, fmt.Sprintf("has %d damaged trees", damaged), "they are fetched again when they are needed",
			"skillpm cache verify")
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
		x.add(severity, dir, fmt.Sprintf("its file system has %d MiB left", free>>20), "large packs may not fit",
			"make room: skillpm cache gc removes what nobody used")
	}
}

// checkKey checks the secret that authenticates states and journals.
func checkKey(x *exam) {
	const effect = "every command hashes all that is installed, and an interrupted install can't be finished by " +
		"the next"
	file := x.Machine.KeyFile()
	info, err := os.Lstat(file)
	switch {
	case err != nil && !writable(nearest(filepath.Dir(file))):
		x.warn(file, "can't be made: its directory is not writable", effect,
			"make the directory writable for you, or set XDG_STATE_HOME to one that is")
	case err != nil:
	case !info.Mode().IsRegular() || !x.Machine.HasKey():
		x.warn(file, "is not a key", effect, "remove it: skillpm makes another")
	default:
		x.checkPrivate(file, "others on this machine could forge what skillpm believes to have installed")
	}
}

// checkPrivate checks whether others may read a file. It returns false if there is no such file.
func (x *exam) checkPrivate(file, effect string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if mode := info.Mode().Perm(); x.OS != "windows" && mode&0o077 != 0 {
		x.warn(file, fmt.Sprintf("others may read it: its mode is %04o", mode), effect, "chmod 600 "+file)
	}
	return true
}

// checkFileSystem finds out what the file systems can do.
func checkFileSystem(x *exam) {
	at := nearest(x.Paths.Store())
	if s, found := x.project(); found {
		if foldsCase(s.Manifest()) {
			x.fact("file system", "does not tell upper from lower case: skills whose files differ in that only are "+
				"refused")
		}
		if !sameDevice(at, s.Root) {
			x.fact("file system", "the store and the project are on two: installing copies files")
			return
		}
	}
	switch {
	case !writable(at):
	case clones(at):
		x.fact("file system", "files can share blocks: installing copies no bytes")
	default:
		x.fact("file system", "files can't share blocks: installing copies them, unless link-mode is hardlink")
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
	const effect = "nothing can be fetched from git repositories"
	path, err := exec.LookPath(program)
	if err != nil {
		x.error("", "the settings prefer the git program "+program+", which is not there", effect,
			"install it, or take git: out of the settings to use what is built in")
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
		x.error(path, "does not say that it is git", effect, "take git: out of the settings to use what is built in")
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
		x.advise("", "scripts of skills: "+err.Error(), "those that are to be confined do not run",
			"let users have namespaces, on a kernel with Landlock; or allow in the machine's policy "+
				"that they run unconfined: execution: {unavailable: allow}")
		return
	}
	x.fact("sandbox", fmt.Sprintf("works: namespaces, and version %d of Landlock", sandbox.Version()))
}
