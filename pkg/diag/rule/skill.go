package rule

// skillRules are the rules about references from one skill to another.
func skillRules() []Rule {
	return []Rule{
		{
			ID: UnknownSkill, Title: "missing skill", Severity: w,
			Why: "The text refers to a skill that is neither validated together with this skill nor installed.",
			Fix: "correct the name, or describe where to get the skill",

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
			ID: SkillCycle, Title: "skills refer to each other in a cycle", Severity: a,
			Why: "Each skill refers to the next skill. skillpm and some agents stop when a skill repeats.",
			Fix: "remove one of the references if agents follow all of them in one conversation",

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
			ID: UndeclaredPack, Title: "skill of a pack that is not a dependency", Severity: w,
			Why: "The pack is not a dependency, so the skill is missing when only this pack is installed.",
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
