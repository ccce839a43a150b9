// Command gendocs writes the command reference, man pages and shell completions from the commands themselves, and the
// pages about rules from the table of rules.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

func main() {
	jobs := []struct {
		dir   *string
		write func(root *cobra.Command, dir string) error
	}{
		{flag.String("markdown", "", "write the command reference to this directory"), writeMarkdown},
		{flag.String("man", "", "write man pages to this directory"), writeMan},
		{flag.String("completions", "", "write shell completions to this directory"), writeCompletions},
		{
			flag.String("rules", "", "write the pages about rules to this directory"),
			func(_ *cobra.Command, dir string) error { return writeRules(dir) },
		},
	}
	flag.Parse()
	for _, job := range jobs {
		if *job.dir == "" {
			continue
		}
		if err := run(*job.dir, job.write); err != nil {
			fmt.Fprintln(os.Stderr, "gendocs:", err)
			os.Exit(1)
		}
	}
}

func run(dir string, write func(*cobra.Command, string) error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root := cli.Command(environ.Process(""))
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	return write(root, dir)
}

func writeMarkdown(root *cobra.Command, dir string) error { return doc.GenMarkdownTree(root, dir) }

func writeMan(root *cobra.Command, dir string) error {
	epoch := time.Unix(0, 0).UTC() // releases must be reproducible
	return doc.GenManTree(root, &doc.GenManHeader{Title: "SKILLPM", Section: "1", Date: &epoch, Source: "skillpm"}, dir)
}

func writeCompletions(root *cobra.Command, dir string) error {
	for file, write := range map[string]func(string) error{
		"skillpm.bash": func(f string) error { return root.GenBashCompletionFileV2(f, true) },
		"skillpm.fish": func(f string) error { return root.GenFishCompletionFile(f, true) },
		"skillpm.zsh":  root.GenZshCompletionFile,
		"skillpm.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := write(filepath.Join(dir, file)); err != nil {
			return err
		}
	}
	return nil
}
