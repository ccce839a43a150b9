package rule

// styleRules are recommendations that are right less often than the others: they are off until they are asked for.
func styleRules() []Rule {
	return []Rule{
		{
			ID: NoTrigger, Title: "description does not say when", Severity: a, Off: true,
			Why: "The model decides by the description when to load the skill; a description that says only what " +
				"it does is chosen less well.",
			Fix: "add a sentence like: Use when …",

			Bad: "---\nname: deploy\ndescription: Rolls a service out and waits for it.\n---\n\n" +
				"Roll the service out.\n",
			Good: "---\nname: deploy\n" +
				"description: Rolls a service out and waits for it. Use when asked to deploy.\n---\n\n" +
				"Roll the service out.\n",
		},
		{
			ID: Person, Title: "description speaks as I or you", Severity: a, Off: true,
			Why: "The description is shown to a model among many others; the third person reads the same for all.",
			Fix: "write it in the third person: Creates …, Checks …",

			Bad: "---\nname: deploy\ndescription: I roll your service out. Use when asked to deploy.\n" +
				"---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
		{
			ID: Vague, Title: "description says little", Severity: a, Off: true,
			Why: "A few words are too little to choose by.",
			Fix: "say what the skill does, on what, and when to use it",

			Bad:  "---\nname: deploy\ndescription: Helps with deploying.\n---\n\nRoll the service out.\n",
			Good: head + "Roll the service out.\n",
		},
	}
}
