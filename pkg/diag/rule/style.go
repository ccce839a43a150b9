package rule

// styleRules are recommendations that are right less often than the others: they are off until they are asked for.
func styleRules() []Rule {
	return []Rule{
		{
			ID: NoTrigger, Title: "description does not explain when to use the skill", Severity: a, Off: true,
			Why: "The model uses the description to decide when to load the skill. " +
				"Without a condition, the model chooses less reliably.",
			Fix: "add a sentence such as: Use when …",

			Bad: "---\nname: deploy\ndescription: Rolls a service out and waits for it.\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy\n" +
				"description: Rolls a service out and waits for it. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Person, Title: "description uses I or you", Severity: a, Off: true,
			Why: "The model sees the description in a list of many skills. The third person is clear in any list.",
			Fix: "use the third person: Creates …, Checks …",

			Bad: "---\nname: deploy\ndescription: I roll your service out. Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Vague, Title: "description is too short", Severity: a, Off: true,
			Why: "A few words are not enough for the model to choose the skill.",
			Fix: "describe what the skill does, on what, and when to use it",

			Bad:  "---\nname: deploy\ndescription: Helps with deploying.\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
	}
}
