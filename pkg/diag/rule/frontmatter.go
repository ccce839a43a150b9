package rule

import "strings"

// frontmatterRules are the rules about frontmatter.
func frontmatterRules() []Rule {
	return []Rule{
		{
			ID: NoFrontmatter, Title: "no frontmatter", Severity: e,
			Why: "Hosts read a skill's name and description from the frontmatter; without it they do not see the " +
				"skill.",
			Fix: "start SKILL.md with ---, name: and description: each on a line, and --- again",

			Bad:  "# Deploy\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Unclosed, Title: "frontmatter is not closed", Severity: e,
			Why: "Without the closing line hosts take the whole file for YAML, or see no frontmatter.",
			Fix: "put --- on a line of its own after the last field",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n\n" +
				"Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: BadYAML, Title: "invalid YAML", Severity: e, Fixable: true,
			Why: "A host that cannot read the YAML drops the skill.",
			Fix: "put values with a colon, a quote or a bracket in double quotes",

			Bad: "---\nname: deploy\ndescription: Use when: a service is rolled out\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy\ndescription: \"Use when: a service is rolled out\"\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Tab, Title: "tab in YAML", Severity: e,
			Why: "YAML forbids tabs for indentation, so hosts drop the skill.",
			Fix: "indent with spaces",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n\tteam: core\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  team: core\n---\n\nRoll the service out.\n",
		},
		{
			ID: NotMapping, Title: "frontmatter has no fields", Severity: e,
			Why: "Hosts expect a field a line, as in name: my-skill.",
			Fix: "write one field a line, as in name: my-skill",

			Bad:  "---\n- deploy\n- Rolls a service out.\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: DuplicateKey, Title: "key is there twice", Severity: e,
			Why: "Some hosts refuse the file, the others differ in which of the two they take.",
			Fix: "keep one of the two",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"name: rollout\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: BOM, Title: "byte order mark", Severity: w, Fixable: true,
			Why: "Hosts that look for --- in the first bytes do not find it.",
			Fix: "save the file as UTF-8 without a byte order mark",

			Bad: "\ufeff" +
				head + "Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: LeadingText, Title: "text before the frontmatter", Severity: e,
			Why: "Frontmatter counts only when the file starts with it.",
			Fix: "let the file start with ---",

			Bad: "# Deploy\n\n" +
				head + "Roll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: NotUTF8, Title: "not UTF-8", Severity: e,
			Why: "Skills are UTF-8; other bytes reach the model as rubbish, or the file is refused.",
			Fix: "save the file as UTF-8",

			Bad:  head + "Serve at the caf\xe9.\n",
			Good: head + "Serve at the café.\n",
		},
		{
			ID: Missing, Title: "required field is missing", Severity: e,
			Why: "The host does not accept a skill without it.",
			Fix: "add the field",

			Bad:  "---\nname: deploy\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Unknown, Title: "unknown field", Severity: e,
			Why: "Hosts that ignore fields they do not know give a misspelt one no effect; there it is a warning. " +
				"Others refuse the skill.",
			Fix: "correct the spelling, or move it below metadata:",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tool: Read\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read\n---\n\nRoll the service out.\n",
		},
		{
			ID: OtherHost, Title: "field of another host", Severity: a,
			Why: "The field has an effect only in the hosts that know it.",
			Fix: "keep it if the skill is for those hosts, else move it below metadata:",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"argument-hint: SERVICE\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Type, Title: "wrong type", Severity: e,
			Why: "The host expects another kind of value and refuses the skill or misreads the field.",
			Fix: "write a value of the right kind",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: [MIT]\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: MIT\n---\n\nRoll the service out.\n",
		},
		{
			ID: Value, Title: "value is not allowed", Severity: e,
			Why: "The field allows only certain values.",
			Fix: "use one of the allowed values",

			Profile: "claude-code",
			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"effort: extreme\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"effort: high\n---\n\nRoll the service out.\n",
		},
		{
			ID: TooLong, Title: "value is too long", Severity: e,
			Why: "Hosts refuse or cut longer values. Characters are counted, not bytes.",
			Fix: "shorten it",

			Bad: "---\nname: deploy-the-services-of-the-shop-to-all-regions-one-after-the-other-and-wait\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy-services\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Empty, Title: "field has no value", Severity: e,
			Why: "A required field without a value is as good as missing. For optional fields this is a warning.",
			Fix: "give it a value, or remove the field",

			Bad:  "---\nname: deploy\ndescription:\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Name, Title: "illegal name", Severity: e, Fixable: true,
			Why: "A name is 1 to 64 of a-z, 0-9 and hyphens, with no hyphen at an end and no two in a row.",
			Fix: "use lower-case letters, digits and single hyphens",

			Bad: "-- deploy/SKILL.md\n---\nname: Deploy\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: NameDirectory, Title: "name differs from the directory", Severity: e, Fixable: true,
			Why: "The standard demands that they are equal, and hosts differ in which of the two they use.",
			Fix: "give both the same name",

			Bad: "-- deploy/SKILL.md\n---\nname: rollout\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: ToolForm, Title: "form of allowed-tools", Severity: w, Fixable: true,
			Why: "The form of the list differs from what the host documents; some hosts then read it as one tool's " +
				"name.",
			Fix: "write the tools as the host documents it",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read, Bash(git log:*)\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"allowed-tools: Read Bash(git log:*)\n---\n\nRoll the service out.\n",
		},
		{
			ID: MetadataText, Title: "metadata value is not text", Severity: w, Fixable: true,
			Why: "Metadata maps text to text; an unquoted number or date may be changed when it is read, as 1.10 " +
				"to 1.1.",
			Fix: "put the value in double quotes",

			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  version: 1.10\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"metadata:\n  version: \"1.10\"\n---\n\nRoll the service out.\n",
		},
		{
			ID: Combination, Title: "field without the one that it needs", Severity: e,
			Why: "The field has no meaning without another one.",
			Fix: "add the other field, or remove this one",

			Profile: "claude-code",
			Bad: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"agent: Explore\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"context: fork\nagent: Explore\n---\n\nRoll the service out.\n",
		},
		{
			ID: Schema, Title: "does not match the schema", Severity: e,
			Why: "The frontmatter breaks the host's schema.",
			Fix: "see `skillpm schema`",

			Profile: "omniforge",
			Bad: "---\nname: deploy\ndescription: |\n  Rolls a service out.\n  Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Recommended, Title: "recommended field is missing", Severity: w,
			Why: "The host takes something else in its place, which seldom says when to use the skill.",
			Fix: "add the field",

			Profile: "pegasus",
			Bad:     "---\nname: deploy\n---\n\nRoll the service out.\n",
			Good:    head + "Roll the service out.\n",
		},
		{
			ID: Listing, Title: "listing is cut off", Severity: w,
			Why: "The host shows the model only the first part of these fields when it chooses a skill.",
			Fix: "say the most important things first, and less",

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
			Why: "People and hosts that show the first lines of a file look for name and description there.",
			Fix: "put name first and description second",

			Bad: "---\nlicense: MIT\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"name: deploy\n---\n\nRoll the service out.\n",
			Good: "---\nname: deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"license: MIT\n---\n\nRoll the service out.\n",
		},
		{
			ID: Reserved, Title: "reserved word in the name", Severity: e,
			Why: "The upload API keeps the words claude and anthropic for itself and refuses skills whose names " +
				"hold them.",
			Fix: "choose a name without the word",

			Profile: "api-upload",
			Bad: "---\nname: claude-deploy\ndescription: Rolls a service out. Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Markup, Title: "XML tag in a field", Severity: e,
			Why: "The upload API refuses descriptions with XML tags, because they could pass for parts of a prompt.",
			Fix: "say it without angle brackets",

			Profile: "api-upload",
			Bad: "---\nname: deploy\ndescription: Rolls a <service> out. Use when asked to deploy.\n---\n" +
				"\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
	}
}
