package rule

// skillRules are the rules about references from one skill to another.
func skillRules() []Rule {
	return []Rule{
		{
			ID: UnknownSkill, Title: "skill that does not exist", Severity: w,
			Why: "The text tells the agent to use a skill that is neither here nor installed, so it searches in vain.",
			Fix: "correct the name, or say where the skill comes from",

			Bad: "-- skills/deploy/SKILL.md\n" +
				head + "If it fails, use the `rolback` skill.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
			Good: "-- skills/deploy/SKILL.md\n" +
				head + "If it fails, use the `rollback` skill.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
		},
		{
			ID: SkillCycle, Title: "skills refer to each other in a circle", Severity: w,
			Why: "Each of them tells the agent to load the next one; skillpm and some hosts stop at the repetition.",
			Fix: "let one of them go without the others",

			Bad: "-- skills/deploy/SKILL.md\n" +
				head + "Then use the `rollback` skill.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\n" +
				"Then use the `deploy` skill.\n",
			Good: "-- skills/deploy/SKILL.md\n" +
				head + "Then use the `rollback` skill.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\n" +
				"Take it back, and say so.\n",
		},
		{
			ID: UndeclaredPack, Title: "skill of a pack that is not required", Severity: w,
			Why: "The pack is not among the dependencies, so the skill is missing where only this one is installed.",
			Fix: "add the pack to dependencies: in skillpm.yaml",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
		},
	}
}
