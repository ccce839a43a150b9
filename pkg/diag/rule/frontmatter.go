package rule

import "strings"

// renames explains how names are fixed.
const renames = "`skillpm validate --fix=names` applies a suggested name: the directory's, if no other skill has that " +
	"name, and no skill refers to the old one."

// frontmatterRules are the rules about frontmatter.
func frontmatterRules() []Rule {
	return []Rule{
		{
			ID: NoFrontmatter, Title: "missing frontmatter", Severity: e,
			Why: "Agents read a skill's name and description from the frontmatter. Most agents do not find a skill " +
				"without frontmatter. For the others, skillpm does not report it.",
			Fix: "start SKILL.md with ---, then name: and description: on their own lines, then ---",

			Bad:  "# Deploy\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Unclosed, Title: "frontmatter is not closed", Severity: e,
			Why: "Without the closing line, agents read the whole file as YAML or find no frontmatter.",
			Fix: "add --- on its own line after the last field",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n\n" +
				"Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: BadYAML, Title: "invalid YAML", Severity: e, Fixable: true,
			Why: "Agents skip a skill whose YAML they cannot read.",
			Fix: "use double quotes around values that contain a colon, a quote, or a bracket",

			Bad: "---\nname: deploy\ndescription: Use when: a service is rolled out\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy\ndescription: \"Use when: a service is rolled out\"\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Tab, Title: "tab in YAML", Severity: e,
			Why: "YAML does not allow tabs for indentation, so agents skip the skill.",
			Fix: "indent with spaces",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n\tteam: core\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  team: core\n---\n\nRoll the service out.\n",
		},
		{
			ID: NotMapping, Title: "frontmatter without fields", Severity: e,
			Why: "Agents expect one field on each line, such as name: my-skill.",
			Fix: "use one line for each field, such as name: my-skill",

			Bad:  "---\n- deploy\n- Rolls a service out.\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: DuplicateKey, Title: "key is duplicated", Severity: e,
			Why: "Some agents reject the file. Other agents disagree about which value to use.",
			Fix: "remove one of the duplicate keys",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"name: rollout\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: BOM, Title: "byte order mark", Severity: w, Fixable: true,
			Why: "Agents that look for --- in the first bytes of the file do not find the frontmatter.",
			Fix: "save the file as UTF-8 without a byte order mark",

			Bad: "\ufeff" +
				head + "Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: LeadingText, Title: "text before the frontmatter", Severity: e,
			Why: "Agents recognize frontmatter only at the start of the file.",
			Fix: "move the frontmatter to the first line",

			Bad: "# Deploy\n\n" +
				head + "Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: NotUTF8, Title: "not UTF-8", Severity: e,
			Why: "A SKILL.md must be UTF-8. Models misread other bytes, or the agent rejects the file.",
			Fix: "save the file as UTF-8",

			Bad:  head + "Serve at the caf\xe9.\n",
			Good: head + "Serve at the café.\n",
		},
		{
			ID: Missing, Title: "required field is missing", Severity: e,
			Why: "The agent rejects a skill without this field.",
			Fix: "add the field",

			Bad:  "---\nname: deploy\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Unknown, Title: "unknown field", Severity: e,
			Why: "Some agents ignore unknown fields, including misspelled fields; " +
				"for these agents, the finding is a warning. Other agents reject the skill.",
			Fix: "correct the spelling, or move the field below metadata:",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tool: Read\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read\n---\n\nRoll the service out.\n",
		},
		{
			ID: OtherHost, Title: "field of another agent", Severity: a,
			Why: "The field has an effect only in agents that know the field. skillpm applies some fields under every " +
				"profile, and the finding shows that.",
			Fix: "keep the field if the skill is for those agents; otherwise move the field below metadata:",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"argument-hint: SERVICE\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Type, Title: "wrong type", Severity: e,
			Why: "The agent expects another type and rejects the skill or misreads the field. " +
				"For a template's placeholder such as {{name}}, the finding is a note.",
			Fix: "use a value of the expected type",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: [MIT]\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: MIT\n---\n\nRoll the service out.\n",
		},
		{
			ID: Value, Title: "value is not allowed", Severity: e,
			Why: "The field accepts only certain values.",
			Fix: "use one of the allowed values",

			Profile: "claude-code",
			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"effort: extreme\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"effort: high\n---\n\nRoll the service out.\n",
		},
		{
			ID: TooLong, Title: "value is too long", Severity: e,
			Why: "Agents reject or cut longer values. The limit counts characters, not bytes.",
			Fix: "shorten the value",

			Bad: "---\nname: deploy-the-services-of-the-shop-to-all-regions-one-after-the-other-and-wait\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy-services\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Empty, Title: "field without a value", Severity: e,
			Why: "Agents treat a required field without a value as missing. For optional fields, the finding is a warning.",
			Fix: "set a value, or remove the field",

			Bad:  "---\nname: deploy\ndescription:\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Name, Title: "invalid name", Severity: e,
			Why: "A name has 1 to 64 characters from a-z, 0-9, and hyphens. " +
				"It does not start or end with a hyphen, or contain two hyphens in a row. " + renames,
			Fix: "use lowercase letters, digits, and single hyphens",

			Bad: "-- deploy/SKILL.md\n---\nname: Deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: NameDirectory, Title: "name differs from the directory", Severity: e,
			Why: "The standard requires the name to equal the name of the directory. " +
				"Some agents use the name, others the directory. " + renames,
			Fix: "use the same name in the field and for the directory",

			Bad: "-- deploy/SKILL.md\n---\nname: rollout\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: ToolForm, Title: "wrong format of allowed-tools", Severity: w, Fixable: true,
			Why: "The value is not in the format that the agent documents. " +
				"Some agents then read the value as the name of one tool.",
			Fix: "write the tools in the agent's documented format",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read, Bash(git log:*)\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read Bash(git log:*)\n---\n\nRoll the service out.\n",
		},
		{
			ID: MetadataText, Title: "metadata value is not text", Severity: w, Fixable: true,
			Why: "Metadata maps text to text. YAML readers can change an unquoted number or date: 1.10 becomes 1.1.",
			Fix: "use double quotes around the value",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  version: 1.10\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  version: \"1.10\"\n---\n\nRoll the service out.\n",
		},
		{
			ID: Combination, Title: "field without a required companion", Severity: e,
			Why: "The field works only together with another field.",
			Fix: "add the other field, or remove this field",

			Profile: "claude-code",
			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"agent: Explore\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"context: fork\nagent: Explore\n---\n\nRoll the service out.\n",
		},
		{
			ID: Schema, Title: "does not match the schema", Severity: e,
			Why: "The frontmatter violates the agent's schema.",
			Fix: "print the schema with `skillpm schema`",

			Profile: "omniforge",
			Bad: "---\nname: deploy\ndescription: |\n  Rolls a service out.\n  Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Recommended, Title: "recommended field is missing", Severity: w,
			Why: "Without the field, the agent uses other text of the skill. Such text seldom explains when to use the skill.",
			Fix: "add the field",

			Profile: "pegasus",
			Bad:     "---\nname: deploy\n---\n\nRoll the service out.\n",
			Good:    head + "Roll the service out.\n",
		},
		{
			ID: Listing, Title: "text for the list of skills is too long", Severity: w,
			Why: "The model chooses a skill from a list. The agent cuts the text of a skill in this list.",
			Fix: "put the most important information first, and shorten the rest",

			Profile: "claude-code",
			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"when_to_use: >\n" +
				strings.Repeat("  Also use it when one more region is to have the service.\n", 27) +
				"---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"when_to_use: Also use it when one more region is to have the service.\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: FieldOrder, Title: "name and description do not come first", Severity: a, Fixable: true,
			Why: "Readers and agents that see only the first lines of a file expect name and description in these lines.",
			Fix: "put name first and description second",

			Bad: "---\nlicense: MIT\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"name: deploy\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: MIT\n---\n\nRoll the service out.\n",
		},
		{
			ID: Reserved, Title: "reserved word in the name", Severity: e,
			Why: "The upload API reserves the words claude and anthropic and rejects skills whose names contain them.",
			Fix: "choose a name without the reserved word",

			Profile: "api-upload",
			Bad: "---\nname: claude-deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Markup, Title: "XML tag in a field", Severity: e,
			Why: "The upload API rejects descriptions with XML tags, because models can read a tag as part of a prompt.",
			Fix: "remove the angle brackets",

			Profile: "api-upload",
			Bad: "---\nname: deploy\ndescription: Rolls a <service> out. Use when asked to deploy.\n---\n" +
				"\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: UnknownTool, Title: "misspelled tool", Severity: w,
			Why: "No known agent has a tool with this name, but agents have a tool with a similar name. " +
				"A skill without an allowed tool fails, and a misspelled tool in disallowed-tools stays allowed.",
			Fix: "correct the name of the tool",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Raed Grep\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read Grep mcp__shop__list_orders\n---\n\nRoll the service out.\n",
		},
		{
			ID: ToolPattern, Title: "unbalanced parentheses in a tool", Severity: w,
			Why: "Agents cannot read the pattern of the tool, so they ignore or deny the tool and those after it.",
			Fix: "close each parenthesis",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Bash(git:* Read\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Bash(git:*) Read\n---\n\nRoll the service out.\n",
		},
		{
			ID: LicenseFile, Title: "license file does not exist", Severity: w,
			Why: "The license names a file that the skill does not contain, so users cannot read the terms.",
			Fix: "add the file to the skill, or write the name of the license, such as MIT",

			Bad: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n" +
				"license: Complete terms in LICENSE.txt\n---\n\nRoll the service out.\n",
			Good: "-- deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n" +
				"license: Complete terms in LICENSE.txt\n---\n\nRoll the service out.\n" +
				"-- deploy/LICENSE.txt\nUse the skill as you like.\n",
		},
	}
}
