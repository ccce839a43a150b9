package rule

import "strings"

// structureRules are the rules about a skill's files and the form of its text.
func structureRules() []Rule {
	return []Rule{
		{
			ID: FileCase, Title: "SKILL.md in another case", Severity: e,
			Why: "Hosts look for SKILL.md exactly; on Linux they find nothing.",
			Fix: "rename the file to SKILL.md",

			Bad: "-- deploy/skill.md\n" +
				head + "Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: EmptyBody, Title: "no instructions", Severity: w,
			Why: "The skill has frontmatter and no body, so loading it tells the agent nothing.",
			Fix: "write the instructions below the frontmatter",

			Bad:  head,
			Good: head + "Roll the service out.\n",
		},
		{
			ID: ManyLines, Title: "more than 500 lines", Severity: w,
			Why: "The whole body enters the context when the skill is loaded.",
			Fix: "move details into files that SKILL.md links to",

			Bad: head + strings.Repeat("Wait until the next service is ready.\n", 501),
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the services](references/services.md).\n" +
				"-- deploy/references/services.md\n" +
				strings.Repeat("Wait until the next service is ready.\n", 501),
		},
		{
			ID: ManyTokens, Title: "more than 5,000 tokens", Severity: w,
			Why: "The whole body enters the context when the skill is loaded. Tokens are estimated from the " +
				"characters.",
			Fix: "move details into files that SKILL.md links to",

			Bad: head +
				strings.Repeat("Wait until the next service is ready, look at its log, and go on with the one "+
					"after it when there are no errors.\n", 200),
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the services](references/services.md).\n" +
				"-- deploy/references/services.md\n" +
				strings.Repeat("Wait until the next service is ready, look at its log, and go on with the one "+
					"after it when there are no errors.\n", 200),
		},
		{
			ID: OpenFence, Title: "code block is not closed", Severity: w,
			Why: "Everything after the opening fence is code.",
			Fix: "close it with a fence of the same kind and length; around code that has fences itself, use " +
				"longer ones",

			Bad:  head + "```sh\nkubectl rollout status deploy/web\n\nThen look at the log.\n",
			Good: head + "```sh\nkubectl rollout status deploy/web\n```\n\nThen look at the log.\n",
		},
		{
			ID: Nested, Title: "skill inside a skill", Severity: w,
			Why: "A SKILL.md below another skill belongs to that one and is not installed as a skill of its own.",
			Fix: "move it beside the outer skill",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- deploy/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\n" +
				"Take the release back.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\n" +
				"Take the release back.\n",
		},
		{
			ID: Link, Title: "symbolic link", Severity: e,
			Why: "Links are refused when a pack is installed, since they can lead out of it.",
			Fix: "put a copy of the file in its place",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the regions](regions.md).\n" +
				"-- deploy/regions.md -> ../regions.md\n" +
				"-- regions.md\n# Regions\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the regions](regions.md).\n" +
				"-- deploy/regions.md\n# Regions\n",
		},
		{
			ID: Leftover, Title: "leftover file", Severity: w,
			Why: "The file is not part of the skill and would be published with it.",
			Fix: "delete it, or list it in .skillpmignore",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- deploy/SKILL.md.orig\n" +
				head + "Roll it out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: Unreadable, Title: "cannot be read", Severity: e,
			Why: "The file could not be read, or is too large to be a SKILL.md.",
			Fix: "look at its permissions and its size",

			Bad: "-- deploy/SKILL.md 5 MiB\n" +
				head + "Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: ManyEntries, Title: "too many files", Severity: e,
			Why: "The skill has more files than are looked at.",
			Fix: "remove what an agent does not need",

			Bad: "-- deploy/SKILL.md\n" +
				head + "The reports are in `reports/`.\n" +
				"-- deploy/reports/{1..20001}.txt\nok\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "The reports are in `reports/`.\n" +
				"-- deploy/reports/{1..200}.txt\nok\n",
		},
		{
			ID: UnsafePath, Title: "name that cannot be in a pack", Severity: e,
			Why: "Packs are unpacked on every system, so names that one of them forbids or misreads are refused.",
			Fix: "rename the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the rest](references/aux.md).\n" +
				"-- deploy/references/aux.md\n# More\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the rest](references/more.md).\n" +
				"-- deploy/references/more.md\n# More\n",
		},
		{
			ID: FinalNewline, Title: "no newline at the end", Severity: a, Fixable: true,
			Why: "Tools that join files, and diffs, expect the last line to be ended.",
			Fix: "end the file with a newline",

			Bad:  head + "Roll the service out.",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: TotalSize, Title: "skill is too large", Severity: e,
			Why: "The host does not accept a skill of this size.",
			Fix: "remove what an agent does not need, or fetch it when it is needed",

			Profile: "api-upload",
			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt 9 MiB\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt\nok\n",
		},
		{
			ID: Collision, Title: "two files of one name", Severity: e,
			Why: "The names differ only in case or in how accents are written; file systems of other machines hold " +
				"only one of the two.",
			Fix: "rename one of them",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [one](notes.md) and [the other](Notes.md).\n" +
				"-- deploy/notes.md\n# One\n" +
				"-- deploy/Notes.md\n# The other\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [one](notes.md) and [the other](more-notes.md).\n" +
				"-- deploy/notes.md\n# One\n" +
				"-- deploy/more-notes.md\n# The other\n",
		},
		{
			ID: TooLarge, Title: "file is too large to be looked into", Severity: e,
			Why: "What cannot be read cannot be checked, and an agent that opens it fills its context. A warning " +
				"for what is neither a page nor a script.",
			Fix: "split the file, or leave it out of the skill",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt 5 MiB\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt\nok\n",
		},
	}
}
