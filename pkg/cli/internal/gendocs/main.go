// Command gendocs writes what skillpm's source generates: the command reference, man pages, and shell completions from
// the commands; the pages about rules from the table of rules; the schemas of what commands print with --json from the
// types of the output; the markers of packages that self-update reads; and, for a check of the language, all messages.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/skillpm/skillpm/pkg/cli"
	"github.com/skillpm/skillpm/pkg/cli/internal/outputschema"
	"github.com/skillpm/skillpm/pkg/cli/internal/selfupdate"
	"github.com/skillpm/skillpm/pkg/internal/environ"
)

func main() {
	jobs := []struct {
		dir   *string
		write func(root *cobra.Command, dir string) error
	}{
		{flag.String("markdown", "", "write the command reference to this directory"), writeMarkdown},
		{flag.String("man", "", "write man pages to this directory"), writeMan},
		{
			flag.String("markers", "", "write the markers of packages to this directory"),
			func(_ *cobra.Command, dir string) error { return writeMarkers(dir) },
		},
		{flag.String("completions", "", "write shell completions to this directory"), writeCompletions},
		{
			flag.String("rules", "", "write the pages about rules to this directory"),
			func(_ *cobra.Command, dir string) error { return writeRules(dir) },
		},
		{
			flag.String("schemas", "", "write the schemas of the commands' JSON output to this directory"),
			func(_ *cobra.Command, dir string) error { return writeSchemas(".", dir) },
		},
		{
			flag.String("messages", "", "write all messages of the program to this directory"),
			func(_ *cobra.Command, dir string) error { return writeMessages(".", dir) },
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

func writeMarkdown(root *cobra.Command, dir string) error {
	listsAsCode(root)
	return doc.GenMarkdownTree(root, dir)
}

// listsAsCode makes the indented lines of descriptions code, because Markdown joins them to a paragraph otherwise.
func listsAsCode(cmd *cobra.Command) {
	var lines []string
	inList := false
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if indented != inList && line != "" && len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, "")
		}
		if line != "" {
			inList = indented
		}
		if indented {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	cmd.Long = strings.Join(lines, "\n")
	for _, sub := range cmd.Commands() {
		listsAsCode(sub)
	}
}

func writeMan(root *cobra.Command, dir string) error {
	listsAsCode(root)
	epoch := time.Unix(0, 0).UTC() // releases must be reproducible
	return doc.GenManTree(root, &doc.GenManHeader{Title: "SKILLPM", Section: "1", Date: &epoch, Source: "skillpm"}, dir)
}

// writeSchemas writes the schemas of the JSON output. root is the directory of the module's source.
func writeSchemas(root, dir string) error {
	files, err := outputschema.Generate(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeMarkers writes a file for each package manager, named as its content.
func writeMarkers(dir string) error {
	for _, name := range selfupdate.Markers() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
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
