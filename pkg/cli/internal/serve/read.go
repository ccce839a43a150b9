package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/runtime"
	"github.com/skillpm/skillpm/pkg/runtime/session"
)

func newRead(a *app) *cobra.Command {
	var f *console.RuntimeFlags
	var limit int64
	cmd := &cobra.Command{
		Use:   "read SKILL FILE",
		Short: "Print a file of a skill",
		Long: fmt.Sprintf(`The output is the exact content of the file, or the names of the files in a directory. FILE
is a path with slashes, relative to the skill's directory. The path . is this directory.

The command reads only regular files in the skill's directory, up to %d MiB (--max-bytes),
and does not follow links to other directories. Agents must not change skill directories.

If the file does not exist, the error names similar files, and the audit log records the
error. With some profiles, such as omniforge, models can run scripts but not read them. With
such a profile, run the files in scripts/ with "skillpm run SKILL --script FILE".`, session.DefaultFileLimit>>20),
		Example: `  skillpm read deploy references/strategies.md
  skillpm read deploy .
  skillpm read deploy@acme/deploy references/troubleshooting.md --json`,
		Args: console.Need(2, 2, "a SKILL and a FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit <= 0 || limit > maxRead {
				return diag.Errorf(diag.Usage, "--max-bytes must be between 1 and %d, not %d", int64(maxRead),
					limit)
			}
			f.FileLimit = limit
			h, err := a.Host(cmd.Context(), f)
			if err != nil {
				return err
			}
			file, err := h.Read(cmd.Context(), args[0], args[1])
			if err != nil {
				return a.Refused(cmd, h, args[0], err)
			}
			return a.printFile(h, file)
		},
		ValidArgsFunction: a.completeSkillFiles,
	}
	f = a.RuntimeFlags(cmd)
	cmd.Flags().Int64Var(&limit, "max-bytes", session.DefaultFileLimit, "read a file of at most `BYTES`")
	a.CompleteFlag(cmd, "max-bytes", cobra.NoFileCompletions)
	return cmd
}

// maxRead is the maximum of --max-bytes, because a file is read into memory.
const maxRead = 1 << 30

func (a *app) printFile(h *runtime.Host, file *session.File) error {
	switch {
	case a.JSON:
		return a.Answer(h, file.Result())
	case file.IsDir:
		for _, name := range file.Names {
			fmt.Fprintln(a.Stdout, console.Printable(name))
		}
		a.Note("%s is read-only for agents.", file.Skill.Dir)
		return nil
	case console.Terminal(a.Stdout): // which needs the end of the last line
		a.ForModel(string(file.Data))
		return nil
	}
	_, err := a.Content(a.Stdout).Write(file.Data)
	return err
}

// completeSkillFiles completes a skill, and then its files.
func (a *app) completeSkillFiles(cmd *cobra.Command, args []string, prefix string) ([]string,
	cobra.ShellCompDirective,
) {
	if len(args) == 0 {
		return a.CompleteSkills(cmd, args, prefix)
	}
	h := a.CompletionHost(cmd)
	if h == nil || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	files, err := h.Session().Files(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return console.Matching(files, prefix), cobra.ShellCompDirectiveNoFileComp
}
