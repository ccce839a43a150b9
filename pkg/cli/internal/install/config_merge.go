package install

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/atomicfile"
	"github.com/skillpm/skillpm/pkg/internal/safefile"
	"github.com/skillpm/skillpm/pkg/pack"
)

const (
	mergeSection   = "merge.skillpm"
	mergeCommand   = "skillpm config merge-driver %O %A %B"
	mergeAttribute = pack.LockName + " merge=skillpm"
	attributesName = ".gitattributes"
)

func newConfigMergeDriver(a *app) *cobra.Command {
	undo := false
	cmd := &cobra.Command{
		Use:   "merge-driver [BASE OURS THEIRS]",
		Short: "Set up the git merge driver for skillpm.lock",
		Long: `The command registers a merge driver in your git settings and in the .gitattributes of the
project. git then merges skillpm.lock pack by pack instead of line by line. If only one
branch changed a pack, git takes the change. If both branches changed a pack differently,
git reports a conflict, which "skillpm install --resolve-lock" resolves.

Commit .gitattributes. Each user of the repository must run this command once. After a
merge, run "skillpm install".

git runs the command with the files BASE, OURS, and THEIRS, and reads the result from OURS.`,
		Example: `  skillpm config merge-driver
  skillpm config merge-driver --undo
  skillpm config merge-driver base.lock ours.lock theirs.lock`,
		Args:              mergeArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.mergeLocks(cmd.Context(), args[0], args[1], args[2])
			}
			return a.registerMerge(cmd.Context(), undo)
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "remove the driver from your git settings")
	return cmd
}

func mergeArguments(_ *cobra.Command, args []string) error {
	if len(args) != 0 && len(args) != 3 {
		return errors.New("skillpm config merge-driver takes either no arguments or the files BASE, OURS, and THEIRS")
	}
	return nil
}

// registerMerge adds or removes the driver.
func (a *app) registerMerge(ctx context.Context, undo bool) error {
	env, err := a.Env()
	if err != nil {
		return err
	}
	if err := a.checkGitConfig(); err != nil {
		return err
	}
	before, err := a.git(ctx, "config", "--global", "--get", mergeSection+".driver")
	if code := exitCode(err); err != nil && code != 1 { // 1: not set
		return err
	}
	changed, attributes := before != mergeCommand, ""
	switch {
	case undo:
		if changed = before != ""; changed {
			if _, err := a.git(ctx, "config", "--global", "--remove-section", mergeSection); err != nil {
				return err
			}
		}
	default:
		if s, exists, err := env.Paths.Project(env.Dir); err == nil && exists {
			attributes = filepath.Join(s.Root, attributesName)
			added, err := addLine(attributes, mergeAttribute)
			if err != nil {
				return err
			}
			changed = changed || added
		}
		for _, setting := range [][2]string{{"name", "merge of skillpm.lock"}, {"driver", mergeCommand}} {
			if _, err := a.git(ctx, "config", "--global", mergeSection+"."+setting[0], setting[1]); err != nil {
				return err
			}
		}
	}
	if a.JSON {
		return a.PrintJSON(mergeDriver{mergeCommand, attributes, changed})
	}
	switch {
	case !changed:
		a.Note("Nothing to change in your git settings.")
	case undo:
		a.Note("Removed the merge driver from your git settings.")
	case attributes == "":
		a.Note("Added the merge driver to your git settings. In each project, add this line to %s: %s",
			attributesName, mergeAttribute)
	default:
		a.Note("Added the merge driver to your git settings, and skillpm.lock to %s.", attributesName)
	}
	return nil
}

// checkGitConfig returns an error if git's global settings are not a regular file. git replaces the file that it
// changes, so that it would turn /dev/null, which disables the settings, into a file for all programs of the machine.
func (a *app) checkGitConfig() error {
	path := a.Getenv("GIT_CONFIG_GLOBAL")
	if path == "" {
		return nil
	}
	info, err := os.Stat(a.Abs(path))
	if err == nil && !info.Mode().IsRegular() {
		return diag.Errorf(diag.Usage,
			"cannot change the git settings: GIT_CONFIG_GLOBAL is %s, which is not a regular file", path).
			WithHint("unset GIT_CONFIG_GLOBAL, or set it to a regular file")
	}
	return nil
}

// addLine adds a line to a file that lacks it.
func addLine(path, line string) (added bool, err error) {
	data, err := safefile.ReadOptional(path)
	if err != nil {
		return false, err
	}
	if slices.Contains(strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n"), line) {
		return false, nil
	}
	if len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
		data = append(data, '\n')
	}
	return true, atomicfile.Write(path, append(data, line+"\n"...), atomicfile.Options{Mode: 0o644, Sync: true})
}

// mergeLocks merges the lockfiles of two branches into ours, as git asks a merge driver to do. If that is impossible,
// it leaves conflict markers.
func (a *app) mergeLocks(ctx context.Context, base, ours, theirs string) error {
	merged, err := a.mergedLock(base, ours, theirs)
	if err != nil {
		// This fails if there are conflicts.
		_, _ = a.git(ctx, "merge-file", "-q", "-L", "ours", "-L", "base", "-L", "theirs",
			a.Abs(ours), a.Abs(base), a.Abs(theirs))
		return err
	}
	if err := atomicfile.Write(a.Abs(ours), merged.Encode(), atomicfile.Options{Mode: 0o644, Sync: true}); err != nil {
		return err
	}
	a.Note("Merged %s. Install the merged versions with: skillpm install", pack.LockName)
	return nil
}

func (a *app) mergedLock(paths ...string) (*pack.Lock, error) {
	locks := make([]*pack.Lock, len(paths))
	for i, path := range paths {
		data, err := safefile.ReadOptional(a.Abs(path))
		if err != nil {
			return nil, err
		}
		if len(data) == 0 { // the branches have no common version
			locks[i] = pack.NewLock()
		} else if locks[i], err = pack.ParseLock(pack.LockName, data); err != nil {
			return nil, err
		}
	}
	merged, conflicts := pack.MergeLocks(locks[0], locks[1], locks[2])
	if len(conflicts) > 0 {
		return nil, diag.Errorf(diag.Conflict, "cannot merge %s: both branches changed %s",
			pack.LockName, strings.Join(conflicts, ", ")).
			WithHint("merge skillpm.yaml first, and then run: skillpm install --resolve-lock")
	}
	return merged, nil
}

// git runs git, and returns its output without the last line break.
func (a *app) git(ctx context.Context, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", diag.Errorf(diag.NotFound, "cannot run git: git is not installed").
			WithHint("install git, or merge skillpm.lock manually")
	}
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // constant arguments, or files for git itself
	cmd.Env = a.Variables()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", &gitError{strings.TrimSpace(stderr.String()), strings.Join(args, " "), err}
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// gitError is a failed command of git.
type gitError struct {
	text, command string
	err           error
}

func (e *gitError) Error() string {
	if e.text == "" {
		return "cannot run \"git " + e.command + "\": " + e.err.Error()
	}
	return "cannot run \"git " + e.command + "\": " + e.text
}

func (e *gitError) Unwrap() error { return e.err }

// exitCode returns the exit code of a program that failed, or -1.
func exitCode(err error) int {
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	return -1
}
