package rule

// referenceRules are the rules about references between files.
func referenceRules() []Rule {
	return []Rule{
		{
			ID: Broken, Title: "broken reference", Severity: e,
			Why: "An agent that follows it finds nothing.",
			Fix: "correct the path, or add the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/giude.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Case, Title: "reference differs in case", Severity: e,
			Why: "It works only on file systems that ignore case.",
			Fix: "write the path as it is on disk",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/Guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Escape, Title: "reference leaves the skill", Severity: e,
			Why: "Only the skill's own directory is installed, so the file is missing there. It is a warning where " +
				"the file exists here.",
			Fix: "move the file into the skill",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](../shared/guide.md).\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Anchor, Title: "no such heading", Severity: w,
			Why: "The file exists, but none of its headings has this anchor.",
			Fix: "correct the part after #",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [how to go back](references/guide.md#going-back).\n" +
				"-- deploy/references/guide.md\n# Guide\n\n## Rollback\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [how to go back](references/guide.md#rollback).\n" +
				"-- deploy/references/guide.md\n# Guide\n\n## Rollback\n",
		},
		{
			ID: Backslash, Title: "backslash in a path", Severity: e,
			Why: "Paths in links are written with forward slashes, also on Windows.",
			Fix: "write / instead of \\",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references\\guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Absolute, Title: "absolute path", Severity: w,
			Why: "A path from the root of the file system leads elsewhere on every other machine.",
			Fix: "write the path relative to the skill's directory",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](/usr/share/deploy/guide.md).\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: BrokenBelow, Title: "broken reference in a referenced file", Severity: w,
			Why: "An agent that reads the file and follows the reference finds nothing.",
			Fix: "correct the path, or add the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n\nSee [the regions](regions.md).\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md) and [the regions](references/regions.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n\nSee [the regions](regions.md).\n" +
				"-- deploy/references/regions.md\n# Regions\n",
		},
		{
			ID: Listed, Title: "listed file does not exist", Severity: e,
			Why: "A file under files: is offered to the model and cannot be loaded.",
			Fix: "correct the path, or add the file",

			Profile: "toolset",
			Bad: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nfiles:\n" +
				"  - path: references/giude.md\n    description: How to roll back.\n---\n\n" +
				"Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nfiles:\n" +
				"  - path: references/guide.md\n    description: How to roll back.\n---\n\n" +
				"Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: ListedForm, Title: "form of a listed path", Severity: e, Fixable: true,
			Why: "Paths under files: are relative to the skill, inside it, and without ./ before them. Where the " +
				"host allows ./ it is no finding.",
			Fix: "write the path relative to the skill's directory",

			Profile: "toolset",
			Bad: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nfiles:\n" +
				"  - path: ./references/guide.md\n    description: How to roll back.\n---\n\n" +
				"Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nfiles:\n" +
				"  - path: references/guide.md\n    description: How to roll back.\n---\n\n" +
				"Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Hook, Title: "hook does not exist", Severity: e,
			Why: "The host runs the hook and fails.",
			Fix: "correct the path, or add the script",

			Profile: "omniforge",
			Bad: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nhooks:\n" +
				"  pre: scripts/chekc.sh\n---\n\nRoll the service out.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\nhooks:\n" +
				"  pre: scripts/check.sh\n---\n\nRoll the service out.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: Command, Title: "command does not exist", Severity: e,
			Why: "The skill is executed through this command and fails.",
			Fix: "correct the path, or add the script",

			Profile: "dispatch",
			Bad: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n" +
				"command: ./scripts/chekc.sh\n---\n\nRoll the service out.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n" +
				"command: ./scripts/check.sh\n---\n\nRoll the service out.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: SpanPath, Title: "path in code does not exist", Severity: w,
			Why: "Agents take a path in a code span for a file of the skill and look for it in vain.",
			Fix: "correct the path, or add the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `scripts/chekc.sh` first; check.sh tells what is wrong.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `scripts/check.sh` first; it tells what is wrong.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: Orphan, Title: "nothing leads to the file", Severity: a,
			Why: "An agent reads a file only when something tells it to; this one is not mentioned in SKILL.md or " +
				"in what that leads to.",
			Fix: "mention the file where it is useful, or delete it",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out as [the guide](references/guide.md) says.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Deep, Title: "reference through several files", Severity: a,
			Why: "The standard advises that SKILL.md itself mentions every file: agents often read only a part of " +
				"a file that another one mentions.",
			Fix: "mention the file in SKILL.md",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n\nSee [the regions](regions.md).\n" +
				"-- deploy/references/regions.md\n# Regions\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md) and [the regions](references/regions.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n\nSee [the regions](regions.md).\n" +
				"-- deploy/references/regions.md\n# Regions\n",
		},
	}
}
