package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/skillpm/skillpm/pkg/runtime/catalog"
)

// findCommand is the argument that measures whether skills are found.
const findCommand = "find"

// The repositories of the queries.
const (
	routingTasks  = "zhengyanzhao1997/SkillRouter"
	routingSkills = "KaiserWhoLearns/skillsbench"
	triggerCases  = "addyosmani/agent-skills"
)

// poolRepositories returns the repositories whose skills compete with those that are searched for.
func poolRepositories() []string {
	return []string{
		"K-Dense-AI/claude-scientific-skills", "alirezarezvani/claude-skills", "getsentry/skills",
		"github/awesome-copilot", "hashicorp/agent-skills", "obra/superpowers", "supabase/agent-skills",
		"trailofbits/skills", "wshobson/agents",
	}
}

const findHelp = `Measure whether "skillpm find" finds the right skill. Fetch the queries and the skills first:

  git clone https://github.com/OWNER/NAME DIR/OWNER+NAME  # the first three repositories
  git clone https://github.com/OWNER/NAME POOL/NAME       # the others

  go run ./cmd/skillpm-bench find --data DIR --pool POOL

The benchmark only reads these files. It prints two tables:

Routing: the scored tasks of SkillRouter with a core skill in the pool, cut at 6,000 characters.
The pool has the skills of the tasks of SkillsBench and those below POOL, one for each name.
Hit@N is the share of tasks with a core skill among the first N results. R@10 is the mean
share of the gold skills in the pool that are among the first ten.

Triggers: the prompts of agent-skills, among the skills of that repository. A positive prompt
counts if its skill is first ("first"), and if it also reaches the threshold of "skillpm find"
("found"). A negative prompt belongs to another skill. It counts as rejected if its skill is
not the answer: the skill is not first, or is below the threshold. "Below" are those whose
skill is below the threshold, wherever it is ranked. "Owner first" are the negative prompts
with a known owner that is ranked before the skill.

Each table has plain BM25 for comparison: k1 1.2, b 0.75, light stemming, over the name and the
frontmatter, with 2,500 characters of the instructions, and with repeated words of the query.
Queries at even positions, counted from 0, are for development.

`

// findOptions are the flags of find.
type findOptions struct {
	data string
	pool string
	list bool
	json bool
}

func parseFind(args []string, stdout io.Writer) (findOptions, error) {
	var o findOptions
	f := flag.NewFlagSet("skillpm-bench find", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.data, "data", "", "read the first three repositories below `DIR`")
	f.StringVar(&o.pool, "pool", "", "read the competing skills in the directories below `POOL`")
	f.BoolVar(&o.list, "list", false, "list the missed queries at even positions, too")
	f.BoolVar(&o.json, "json", false, "print one JSON document instead of the tables")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, findHelp, "Flags:\n")
		f.SetOutput(stdout)
		f.PrintDefaults()
		fmt.Fprint(stdout, "\nRepositories:\n")
		for _, r := range append([]string{routingTasks, routingSkills, triggerCases}, poolRepositories()...) {
			fmt.Fprintf(stdout, "  %s\n", r)
		}
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.data == "":
		err = errors.New("--data is required")
	case o.pool == "":
		err = errors.New("--pool is required")
	}
	return o, err
}

func runFind(ctx context.Context, sys system) error {
	o, err := parseFind(sys.Args[1:], sys.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return usageError{err}
	}
	routes, err := readRoutes(ctx, o.data, o.pool)
	if err != nil {
		return err
	}
	triggers, err := readTriggers(ctx, o.data)
	if err != nil {
		return err
	}
	rep := findReport{Pool: len(routes.skills), Threshold: catalog.MatchThreshold}
	for _, e := range engines() {
		fmt.Fprintf(sys.Stderr, "skillpm-bench: searching with %s\n", e.name)
		if err := rep.route(ctx, e, routes); err != nil {
			return err
		}
		if err := rep.trigger(ctx, e, triggers); err != nil {
			return err
		}
	}
	if o.json {
		enc := json.NewEncoder(sys.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(rep)
	}
	text := rep.table()
	if o.list {
		text += "\n" + strings.Join(rep.missed, "\n") + "\n"
	}
	_, err = io.WriteString(sys.Stdout, text)
	return err
}
