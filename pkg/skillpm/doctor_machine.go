package skillpm

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/store"
)

// checkSettings reads the settings of the user and of the administrator.
func checkSettings(x *examination) {
	config, err := x.client.machine.UserConfig()
	if err == nil {
		x.config = config
		_, err = x.client.machine.AdminConfig()
	}
	if err != nil {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Message: err.Error(), Means: "no command that installs works before it is mended", Fix: diag.HintOf(err),
		})
	}
}

// The years between which a clock is taken for right.
const (
	firstYear = 2026
	lastYear  = 2099
)

// checkClock compares the clock with what is known of time: the age of releases depends on it, and certificates.
func checkClock(x *examination) {
	now := x.client.Now()
	if now.Year() < firstYear || now.Year() > lastYear {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Message: "the clock says " + now.UTC().Format(time.DateOnly),
			Means: "certificates of registries are refused, and the ages of releases are wrong", Fix: "set the clock",
		})
		return
	}
	path, latest := x.latestTime()
	if late := latest.Sub(now); late > 24*time.Hour {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: path,
			Message: fmt.Sprintf("was written at %s, and the clock says %s", latest.UTC().Format(time.DateOnly), now.UTC().Format(time.DateOnly)),
			Means:   "the clock is wrong now, or it was then: a minimum release age counts from what it said",
			Fix:     "set the clock; if it is right, touch the file",
		})
	}
}

// latestTime returns the latest time that is recorded: of locks, manifests and states, and of releases that were seen.
func (x *examination) latestTime() (path string, latest time.Time) {
	look := func(file string) {
		if info, err := os.Lstat(file); err == nil && info.ModTime().After(latest) {
			path, latest = file, info.ModTime()
		}
	}
	scopes := []scope.Scope{x.client.Paths.User()}
	if s, found, err := x.client.Paths.Project(x.client.Dir); err == nil && found {
		scopes = append(scopes, s)
	}
	for _, s := range scopes {
		look(s.Lock())
		look(s.Manifest())
		look(s.State())
	}
	seen := filepath.Join(x.client.Paths.State, "seen")
	for _, e := range entries(seen) {
		file := filepath.Join(seen, e.Name())
		look(file)
		if data, err := os.ReadFile(file); err == nil && e.Type().IsRegular() {
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(data))); err == nil && at.After(latest) {
				path, latest = file, at
			}
		}
	}
	return path, latest
}

// checkStore looks whether the store can be written, and what was left in it.
func checkStore(x *examination) {
	dir := x.client.Paths.Store()
	at := nearest(dir)
	if !writable(at) {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: dir, Message: at + " is not writable",
			Means: "what is in the store can be installed, and nothing can be fetched", Fix: "make it writable for you, or set XDG_CACHE_HOME to a directory that is",
		})
	}
	s, err := x.client.machine.Store()
	if err != nil {
		x.find(Diagnosis{Severity: diag.SeverityError, Path: dir, Message: err.Error(), Fix: diag.HintOf(err)})
		return
	}
	r, err := s.GC(x.ctx, store.GCOptions{Unused: CacheUnused, Now: x.client.Now(), DryRun: true})
	if err != nil {
		x.find(Diagnosis{Severity: diag.SeverityWarning, Path: dir, Message: err.Error(), Fix: diag.HintOf(err)})
		return
	}
	x.fact("store", fmt.Sprintf("%s, %d trees, %d KiB", dir, r.Kept+len(r.Removed), (r.KeptBytes+r.Bytes)/1024))
	if r.Leftovers > 0 {
		x.find(Diagnosis{
			Severity: diag.SeverityAdvice, Path: dir, Message: "has " + counted(r.Leftovers, "leftover") + " of processes that died",
			Means: "they take room", Fix: "skillpm cache gc",
		})
	}
	damaged := 0
	for _, e := range r.Removed {
		if e.Files == 0 {
			damaged++
		}
	}
	if damaged > 0 {
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: dir, Message: fmt.Sprintf("has %d damaged trees", damaged),
			Means: "they are fetched again when they are needed", Fix: "skillpm cache verify",
		})
	}
}

// Room on a file system below which is warned.
const (
	littleRoom = 256 << 20
	noRoom     = 16 << 20
)

// checkSpace looks how much room there is for the store and in the project.
func checkSpace(x *examination) {
	dirs := []string{x.client.Paths.Cache}
	if s, found, err := x.client.Paths.Project(x.client.Dir); err == nil && found {
		dirs = append(dirs, s.Root)
	}
	for _, dir := range dirs {
		free, known := freeSpace(nearest(dir))
		if !known || free >= littleRoom {
			continue
		}
		d := Diagnosis{
			Severity: diag.SeverityWarning, Path: dir, Message: fmt.Sprintf("its file system has %d MiB left", free>>20),
			Means: "large packs may not fit", Fix: "make room: skillpm cache gc removes what nobody used",
		}
		if free < noRoom {
			d.Severity = diag.SeverityError
		}
		x.find(d)
	}
}

// checkKey looks at the secret that states and journals are authenticated with.
func checkKey(x *examination) {
	file := x.client.machine.KeyFile()
	info, err := os.Lstat(file)
	means := "every command hashes all that is installed, and an interrupted install can't be finished by the next"
	switch {
	case err != nil && !writable(nearest(filepath.Dir(file))):
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: file, Message: "can't be made: its directory is not writable", Means: means,
			Fix: "make the directory writable for you, or set XDG_STATE_HOME to one that is",
		})
	case err != nil:
	case !info.Mode().IsRegular() || !x.client.machine.HasKey():
		x.find(Diagnosis{Severity: diag.SeverityWarning, Path: file, Message: "is not a key", Means: means, Fix: "remove it: skillpm makes another"})
	case x.client.OS != "windows" && info.Mode()&0o077 != 0:
		x.find(Diagnosis{
			Severity: diag.SeverityWarning, Path: file, Message: fmt.Sprintf("others may read it: its mode is %04o", info.Mode().Perm()),
			Means: "others on this machine could forge what skillpm believes to have installed", Fix: "chmod 600 " + file,
		})
	}
}

// checkFileSystem finds out what the file systems can do.
func checkFileSystem(x *examination) {
	at := nearest(x.client.Paths.Store())
	if s, found, err := x.client.Paths.Project(x.client.Dir); err == nil && found {
		if foldsCase(s.Manifest()) {
			x.fact("file system", "does not tell upper from lower case: skills whose files differ in that only are refused")
		}
		if !sameDevice(at, s.Root) {
			x.fact("file system", "the store and the project are on two: installing copies files")
			return
		}
	}
	if !writable(at) {
		return
	}
	if clones(at) {
		x.fact("file system", "files can share blocks: installing copies no bytes")
	} else {
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

// programTime is how long a program may take to say its version.
const programTime = 5 * time.Second

// checkGit looks at the git program, where the settings prefer one.
func checkGit(x *examination) {
	program := x.config.Git
	if program == "" {
		return
	}
	path, err := exec.LookPath(program)
	if err != nil {
		x.find(Diagnosis{
			Severity: diag.SeverityError, Message: "the settings prefer the git program " + program + ", which is not there",
			Means: "nothing can be fetched from git repositories", Fix: "install it, or take git: out of the settings to use what is built in",
		})
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
		x.find(Diagnosis{
			Severity: diag.SeverityError, Path: path, Message: "does not say that it is git",
			Means: "nothing can be fetched from git repositories", Fix: "take git: out of the settings to use what is built in",
		})
		return
	}
	x.fact("git", version+", "+path)
}

// lstatMode returns a file's mode, and whether it is a regular file.
func lstatMode(file string) (fs.FileMode, bool) {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return info.Mode().Perm(), true
}
