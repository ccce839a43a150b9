package rule

import "strings"

// structureRules are the rules about a skill's files and the form of its text.
func structureRules() []Rule {
	return []Rule{
		{
			ID: FileCase, Title: "wrong case of SKILL.md", Severity: e,
			Why: "Agents look for a file with the exact name SKILL.md. On Linux, they do not find this file. " +
				"If the file does not start with the name and description of a skill, the finding is a warning.",
			Fix: "rename the file to SKILL.md",

			Bad: "-- deploy/skill.md\n" +
				head + "Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: EmptyBody, Title: "missing instructions", Severity: w,
			Why: "The agent does not get instructions, because the body is empty.",
			Fix: "write the instructions below the frontmatter",

			Bad:  head,
			Good: head + "Roll the service out.\n",
		},
		{
			ID: ManyLines, Title: "more than 500 lines", Severity: w,
			Why: "The whole body enters the context when the agent activates the skill.",
			Fix: "move details into files that SKILL.md references",

			Bad: head + strings.Repeat("Wait until the next service is ready.\n", 501),
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the services](references/services.md).\n" +
				"-- deploy/references/services.md\n" +
				strings.Repeat("Wait until the next service is ready.\n", 501),
		},
		{
			ID: ManyTokens, Title: "more than 5,000 tokens", Severity: w,
			Why: "The whole body enters the context when the agent activates the skill. The number of tokens is an estimate.",
			Fix: "move details into files that SKILL.md references",

			Bad: head + strings.Repeat("Wait until the next service is ready, look at its log, "+
				"and go on with the one after it when there are no errors.\n", 200),
			Good: "-- deploy/SKILL.md\n" + head + "See [the services](references/services.md).\n" +
				"-- deploy/references/services.md\n" + strings.Repeat("Wait until the next service is ready, look at its log, "+
				"and go on with the one after it when there are no errors.\n", 200),
		},
		{
			ID: OpenFence, Title: "code block is not closed", Severity: w,
			Why: "All text after the opening fence is code.",
			Fix: "close the block with a fence of the same kind and length; use a longer fence around code that contains fences",

			Bad:  head + "```sh\nkubectl rollout status deploy/web\n\nThen look at the log.\n",
			Good: head + "```sh\nkubectl rollout status deploy/web\n```\n\nThen look at the log.\n",
		},
		{
			ID: Nested, Title: "skill inside a skill", Severity: w,
			Why: "A SKILL.md below another skill belongs to that skill. skillpm does not install the inner skill separately.",
			Fix: "move the inner skill next to the outer skill",

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
			Why: "The installer rejects links, because they can lead out of the pack.",
			Fix: "replace the link with a copy of the file",

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
			Why: "The file is not part of the skill, but skillpm would publish it with the skill.",
			Fix: "delete the file, or list it in .skillpmignore",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n" +
				"-- deploy/SKILL.md.orig\n" +
				head + "Roll it out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: Unreadable, Title: "unreadable file", Severity: e,
			Why: "skillpm cannot read the file, or the file is too large for a SKILL.md.",
			Fix: "check the permissions and the size of the file",

			Bad: "-- deploy/SKILL.md 5 MiB\n" +
				head + "Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: ManyEntries, Title: "too many files", Severity: e,
			Why: "The skill has more files than skillpm validates.",
			Fix: "remove files that agents do not need",

			Bad: "-- deploy/SKILL.md\n" +
				head + "The reports are in `reports/`.\n" +
				"-- deploy/reports/{1..20001}.txt\nok\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "The reports are in `reports/`.\n" +
				"-- deploy/reports/{1..200}.txt\nok\n",
		},
		{
			ID: UnsafePath, Title: "name that is invalid in a pack", Severity: e,
			Why: "Users install packs on every system, so a file name must be valid on every system.",
			Fix: "rename the file",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the rest](references/aux.md).\n" +
				"-- deploy/references/aux.md\n# More\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the rest](references/more.md).\n" +
				"-- deploy/references/more.md\n# More\n",
		},
		{
			ID: FinalNewline, Title: "missing newline at the end", Severity: a, Fixable: true,
			Why: "Tools that join or compare files expect a newline after the last line.",
			Fix: "end the file with a newline",

			Bad:  head + "Roll the service out.",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: TotalSize, Title: "skill is too large", Severity: e,
			Why: "The agent rejects a skill of this size.",
			Fix: "remove files that agents do not need, or download them on demand",

			Profile: "api-upload",
			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt 9 MiB\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt\nok\n",
		},
		{
			ID: Collision, Title: "file names that collide", Severity: e,
			Why: "The names differ only in case or in the encoding of accents. " +
				"Some file systems can store only one of the files.",
			Fix: "rename one of the files",

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
			ID: TooLarge, Title: "file is too large to scan", Severity: e,
			Why: "skillpm cannot check the file, and the file fills the context of an agent. " +
				"If the file is neither a Markdown file nor a script, the finding is a warning.",
			Fix: "split the file, or remove it from the skill",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt 5 MiB\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the log](log.txt).\n" +
				"-- deploy/log.txt\nok\n",
		},
		{
			ID: TemplateText, Title: "text of the template", Severity: w,
			Why: "\"skillpm new\" wrote the text for the author, and agents cannot follow it. " +
				"When a pack is published, the finding is an error.",
			Fix: "replace the text with instructions",

			Bad:  head + "1. Write the agent's first step as an instruction.\n",
			Good: head + "1. Roll the service out.\n",
		},
		{
			ID: SkippedSkill, Title: "skill is not validated", Severity: a,
			Why: "A SKILL.md below the directories assets, examples, fixtures, templates, or tests of a skill is material " +
				"of that skill. Such files are often incomplete on purpose.",
			Fix: "to validate the skill, add its path to the command",

			Bad: "-- deploy/SKILL.md\n" +
				head + "Copy [the template](templates/rollout/SKILL.md).\n" +
				"-- deploy/templates/rollout/SKILL.md\n---\nname: TODO\n---\n\nRoll SERVICE out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Copy [the template](templates/rollout.md).\n" +
				"-- deploy/templates/rollout.md\n---\nname: TODO\n---\n\nRoll SERVICE out.\n",
		},
	}
}
