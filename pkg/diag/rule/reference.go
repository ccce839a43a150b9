package rule

// referenceRules are the rules about references between files.
func referenceRules() []Rule {
	return []Rule{
		{
			ID: Broken, Title: "broken reference", Severity: e,
			Why: "An agent that follows the reference does not find a file.",
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
			Why: "The reference works only on file systems that ignore case.",
			Fix: "use the exact name of the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/Guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Escape, Title: "reference points outside the skill", Severity: e,
			Why: "skillpm installs only the skill's own directory, so the file is missing for users. " +
				"If the file exists now, the finding is a warning.",
			Fix: "move the file into the skill",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](../shared/guide.md).\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Anchor, Title: "missing heading", Severity: w,
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
			Why: "Paths in links require forward slashes, even on Windows.",
			Fix: "use / instead of \\",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references\\guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Absolute, Title: "absolute path", Severity: w,
			Why: "An absolute path of this machine seldom exists on other machines. " +
				"The finding is a note if the path contains the directory in which a user installed the skill.",
			Fix: "use a path relative to the skill's directory",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the guide](/usr/share/deploy/guide.md).\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the guide](references/guide.md).\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: BrokenBelow, Title: "broken reference in a referenced file", Severity: w,
			Why: "An agent that reads the file and follows the reference does not find a file.",
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
			Why: "The files field shows the file to the model, but the model cannot load the file. " +
				"If no selected agent reads the field, skillpm checks only entries that have a path.",
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
			ID: ListedForm, Title: "wrong format of a listed path", Severity: e, Fixable: true,
			Why: "Paths in files: must be relative to the skill, stay inside the skill, and start without ./. " +
				"skillpm does not report ./ if the agent allows ./ in these paths.",
			Fix: "use a path relative to the skill's directory",

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
			Why: "The agent runs the hook, and the hook fails.",
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
			Why: "The skill runs the command, and the command fails.",
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
			ID: SpanPath, Title: "path does not exist", Severity: w,
			Why: "Agents read a path in a code span, in a command, or in the text as a file of the skill, " +
				"and do not find the file.",
			Fix: "correct the path, or add the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Run `scripts/chekc.sh` first; check.sh tells what is wrong.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Run `scripts/check.sh` first; it tells what is wrong.\n" +
				"-- deploy/scripts/check.sh 755\n#!/bin/sh\nkubectl get nodes\n",
		},
		{
			ID: Orphan, Title: "unreferenced file", Severity: a,
			Why: "Agents read a file only if SKILL.md or a referenced file mentions it.",
			Fix: "mention the file in SKILL.md, or delete it",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out as [the guide](references/guide.md) says.\n" +
				"-- deploy/references/guide.md\n# Guide\n",
		},
		{
			ID: Deep, Title: "indirect reference", Severity: a,
			Why: "The standard recommends that SKILL.md mention every file. " +
				"Agents often read only a part of an indirectly referenced file.",
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
