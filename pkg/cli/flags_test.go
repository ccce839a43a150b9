package cli

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillpm/skillpm/pkg/cli/internal/console"
)

// flagMeanings has a pattern for the usage of every flag with a fixed meaning: where, what, and for what.
var flagMeanings = map[string]string{
	"accept":            "^accept (that the project binds|the changes of the repository)",
	"accept-changed":    "^accept changed content of the locked version",
	"accept-signer":     "^accept a changed or missing signer",
	"agent":             "the (agent )?`(AGENT|ID)`|`AGENT`",
	"all":               "^(also list|connect all|disconnect all|remove all files|list all)",
	"check":             "^exit 3 if ",
	"command":           "`PROGRAM` instead of the path of this program",
	"dry-run":           "without",
	"fix":               "^(fix|restore) ",
	"force":             "replace|remove",
	"format":            "^(print|write|use|print the reply as) .*`(FORMAT|text.*)`",
	"html":              "^write a page .*`FILE`",
	"keep-going":        "cannot (open|read)",
	"key":               "(verify|trust).*public key.*`FILE`",
	"latest":            "outside the ranges",
	"layer":             "^copy to `LAYER`",
	"limit":             "^show (at most|the last) `N` ",
	"list":              "^list ",
	"no-skills":         "^disable all skills$",
	"offline":           "do not use the network|without network access|check only the files and the history",
	"output":            "^write .*`(FILE|DIR|NAME|\\[FORMAT=\\]FILE)`",
	"pack-version":      "`VERSION`",
	"profile":           "the (rules of the )?profiles? `IDS?`",
	"reason":            "reason.*`TEXT`|`TEXT`.*reason",
	"registry":          "only .*`REGISTRY`|change the pack in `REGISTRY`",
	"require-signature": "^require a trusted signature$",
	"scope":             "`SCOPE`: project(, user, or machine| or user)( \\(default (user|depends on the name of FILE)\\))?$|^same as --layer `LAYER`$",
	"session":           "session `ID`",
	"signing-key":       "^sign with the private key in `FILE`$",
	"since":             "^(show records|count uses) since `TIME`",
	"skill":             "the skill `NAME`",
	"tag":               "skills with `TAG`",
	"timeout":           "`DURATION`",
	"to":                "^publish to `(TARGET|oci://.*)`",
	"trigger":           "^activate the skill as the `user.model`$",
	"undo":              "^(remove|restore|use|undo|stop) ",
	"until":             "^show records before `TIME`",
	"verdict":           "^show records with the policies' `VERDICT`: ",
	"watch":             "^(list|validate) again when ",
}

// flagTypes lists the flags whose type differs between commands.
var flagTypes = map[string]string{
	"accept":  "bool string",        // a commit can follow
	"agent":   "string stringSlice", // install links for several
	"fix":     "bool string",        // validate has a scope
	"format":  "string stringSlice", // validate prints several
	"input":   "bool string",        // task show prints it
	"key":     "stringArray stringSlice",
	"output":  "string stringArray", // validate writes several
	"profile": "string stringSlice", // validate checks several
	"scope":   "string project|user",
	"skill":   "string stringSlice", // install selects several
}

// TestFlagsMeanOneThing proves that a flag has one type, one shorthand, and one meaning in all commands.
func TestFlagsMeanOneThing(t *testing.T) {
	type use struct {
		cmd  string
		flag *pflag.Flag
	}
	uses := map[string][]use{}
	shorthands := map[string]string{}
	root := newRoot(&console.App{}, commands())
	visit := func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			uses[f.Name] = append(uses[f.Name], use{c.CommandPath(), f})
			if other := shorthands[f.Shorthand]; f.Shorthand != "" && other != "" && other != f.Name {
				t.Errorf("%s: -%s is --%s and --%s", c.CommandPath(), f.Shorthand, f.Name, other)
			}
			shorthands[f.Shorthand] = f.Name
		})
	}
	visit(root)
	each(root, visit)
	for name, all := range uses {
		var types, shorthands []string
		meaning := regexp.MustCompile(flagMeanings[name])
		for _, u := range all {
			types, shorthands = append(types, u.flag.Value.Type()), append(shorthands, u.flag.Shorthand)
			if !meaning.MatchString(u.flag.Usage) {
				t.Errorf("%s --%s: %q does not match %q", u.cmd, name, u.flag.Usage, meaning)
			}
			value, usage := pflag.UnquoteUsage(u.flag)
			if value == "string" || value == "strings" || value == "stringArray" || usage == "" {
				t.Errorf("%s --%s has no name for its value", u.cmd, name)
			}
			if kind := u.flag.Value.Type(); kind == "bool" && strings.Contains(u.flag.Usage, "`") {
				t.Errorf("%s --%s has a name for a value, but takes none: %s", u.cmd, name, u.flag.Usage)
			}
		}
		slices.Sort(types)
		types = slices.Compact(types)
		if want, ok := flagTypes[name]; len(types) > 1 && (!ok || !subset(types, strings.Fields(want))) {
			t.Errorf("--%s has the types %s", name, types)
		}
		slices.Sort(shorthands)
		if len(slices.Compact(shorthands)) > 1 {
			t.Errorf("--%s has the shorthands %q", name, slices.Compact(shorthands))
		}
	}
	for name := range flagMeanings {
		if uses[name] == nil {
			t.Errorf("no command has --%s", name)
		}
	}
	for _, name := range []string{"host", "out", "place", "target", "global", "location", "no-color", "cert"} {
		if uses[name] != nil {
			t.Errorf("%s has --%s", uses[name][0].cmd, name)
		}
	}
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}

// TestFlagVariableList proves that the page about configuration lists the flags without a variable, that no variable
// sets them in any command, and that the variables of all other flags do.
func TestFlagVariableList(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "These flags have no variable")
	text, _, _ = strings.Cut(text, "\n\n")
	var listed []string
	for _, m := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	want := slices.Sorted(maps.Keys(noVariable))
	want = slices.DeleteFunc(want, func(name string) bool { return name == "help" })
	if !slices.Equal(listed, want) {
		t.Errorf("the page lists %s\nand the code has %s", listed, want)
	}

	unused := maps.Clone(noVariable)
	every := map[string]string{}
	check := func(cmd *cobra.Command, set func() error) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { delete(unused, f.Name) })
		if err := set(); err != nil {
			t.Errorf("%s: %v", cmd.CommandPath(), err)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Changed != hasVariable(cmd, f.Name) {
				t.Errorf("%s --%s: set by its variable is %v", cmd.CommandPath(), f.Name, f.Changed)
			}
		})
	}
	a := &console.App{}
	a.Getenv = func(name string) string { return every[name] }
	root := newRoot(a, commands())
	each(root, func(c *cobra.Command) {
		if !c.Runnable() {
			return
		}
		_ = c.ParseFlags(nil) // adds the global flags
		clear(every)
		c.Flags().VisitAll(func(f *pflag.Flag) { every[variable(f.Name)] = sample(f) })
		check(c, func() error { return setFromEnvironment(a, c) })
	})
	for name := range unused {
		if !slices.Contains([]string{"help", "version", "yes"}, name) { // of root, and of commands to come
			t.Errorf("no command has --%s", name)
		}
	}
}

// sample returns a valid value of a flag.
func sample(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true"
	case "int", "int64", "count":
		return "3"
	case "float64":
		return "0.5"
	case "duration":
		return "3s"
	}
	switch f.Name {
	case "color":
		return "never"
	case "diff", "fix":
		return "names"
	case "scope", "trigger":
		return "user"
	}
	return "x"
}

// TestInvalidVariables proves that the error about an invalid value names the variable instead of the flag.
func TestInvalidVariables(t *testing.T) {
	for name, want := range map[string]string{
		"SKILLPM_OFFLINE": `SKILLPM_OFFLINE "maybe" is not true or false`,
		"SKILLPM_LIMIT":   `SKILLPM_LIMIT "maybe" is not a whole number`,
		"SKILLPM_COLOR":   `SKILLPM_COLOR "maybe" is invalid: use auto, always, or never`,
	} {
		a := &console.App{}
		a.Getenv = func(asked string) string { return map[string]string{name: "maybe"}[asked] }
		search, _, err := newRoot(a, commands()).Find([]string{"search"})
		if err != nil {
			t.Fatal(err)
		}
		_ = search.ParseFlags(nil)
		if err := setFromEnvironment(a, search); err == nil || fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
