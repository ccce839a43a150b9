// Package environ describes the surroundings of a process: its streams, variables, clock, directories, and operating
// system.
//
// A program makes one [Environment] where it starts, and passes it down as a value. Nothing below asks the operating
// system for these things, so tests and embedders decide them in one place. A layer that needs another value, such as a
// server that works in the directory of each request, changes its copy.
package environ

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/skillpm/skillpm/pkg/internal/scope"
	"github.com/skillpm/skillpm/pkg/internal/secret"
)

// Environment is what a process has.
type Environment struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer

	Getenv  func(string) string // returns a variable's value
	Environ func() []string     // returns all variables, as os.Environ does; nil for none
	Now     func() time.Time
	OS      string // as runtime.GOOS

	Dir   string      // the working directory, absolute
	Paths scope.Paths // of the user and the administrator; [Environment.At] fills them in
	// Config is the user's settings file, "" for the default one, which need not exist.
	Config string

	Version string // skillpm's own version
	// Secrets are the credentials that the process has read, which messages leave out; nil for none.
	Secrets *secret.Set
	// Exit ends the process immediately; nil if it belongs to others.
	Exit func(code int)
	// OwnsProcess reports whether this is the only environment of its process, so that orphans of scripts can become
	// children of the process without being taken for those of another script.
	OwnsProcess bool
	Admin       int // the user id that the administrator's files must belong to
}

// Process returns the environment of this process in its working directory, without [Environment.Paths] except for the
// home directory.
func Process(version string) Environment {
	dir, _ := os.Getwd()        // an empty directory is reported when a path is needed
	home, _ := os.UserHomeDir() // likewise
	return Environment{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ, Now: time.Now, OS: runtime.GOOS,
		Dir: dir, Paths: scope.Paths{Home: home}, Version: version, Exit: os.Exit, OwnsProcess: true,
	}
}

// At returns the environment of a process that works in dir, with all paths. It keeps the home directory and the
// administrator's directory, if they are set.
func (e Environment) At(dir string) (Environment, error) {
	paths, err := scope.New(scope.Env{Home: e.Paths.Home, Dir: dir, Getenv: e.Getenv, OS: e.OS})
	if e.Paths.Enterprise != "" {
		paths.Enterprise = e.Paths.Enterprise
	}
	e.Dir, e.Paths = dir, paths
	return e, err
}

// Default returns the environment of this process working in dir, with all paths.
func Default(dir string) (Environment, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Environment{}, err
	}
	return Process("").At(dir)
}

// Abs returns a path of the command line or of an option as an absolute one.
func (e Environment) Abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// Variables returns all variables, none if there are none.
func (e Environment) Variables() []string {
	if e.Environ == nil {
		return nil
	}
	return e.Environ()
}

// LookPath finds a program in the directories of a PATH, without executing it. It skips relative directories, because
// their meaning depends on the working directory.
func LookPath(name, path string) (file string, ok bool) {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, true
		}
	}
	return "", false
}
