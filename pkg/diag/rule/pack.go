package rule

// packRules are the rules about several skills together, and the files that describe packs.
func packRules() []Rule {
	return []Rule{
		{
			ID: SameName, Title: "skills with the same name", Severity: e,
			Why: "A pack can contain only one skill with a given name. " +
				"Outside of a pack, the finding is a warning about skills in the same skills directory.",
			Fix: "rename one of the skills",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n" +
				"-- skills/rollout/SKILL.md\n---\nname: deploy\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n" +
				"-- skills/rollout/SKILL.md\n---\nname: rollout\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
		},
		{
			ID: SameDescribe, Title: "skills with the same description", Severity: w,
			Why: "The model chooses a skill by its description, and cannot distinguish the skills.",
			Fix: "describe in each skill how the two skills differ",

			Bad: "-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\nTake it back.\n",
			Good: "-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
		},
		{
			ID: NearDescription, Title: "skills with almost the same description", Severity: w,
			Why: "The model chooses a skill by its description, and can hardly distinguish the skills.",
			Fix: "describe in each skill how the two skills differ",

			Bad: "-- skills/deploy/SKILL.md\n" +
				"---\n" +
				"name: deploy\n" +
				"description: Rolls a service out to one region after the other and waits " +
				"until every node is ready. Use when asked to deploy a service.\n" +
				"---\n\n" +
				"Roll it out.\n" +
				"-- skills/deploy-all/SKILL.md\n" +
				"---\n" +
				"name: deploy-all\n" +
				"description: Rolls a service out to one region after the other and waits " +
				"until every node is ready. Use when asked to deploy a service again.\n" +
				"---\n\n" +
				"Roll all out.\n",
			Good: "-- skills/deploy/SKILL.md\n" +
				"---\n" +
				"name: deploy\n" +
				"description: Rolls a service out to one region after the other and waits " +
				"until every node is ready. Use when asked to deploy a service.\n" +
				"---\n\n" +
				"Roll it out.\n" +
				"-- skills/deploy-all/SKILL.md\n" +
				"---\n" +
				"name: deploy-all\n" +
				"description: Deploys all services of a stack in the order of their dependencies. Use when a stack is new.\n" +
				"---\n\n" +
				"Roll all out.\n",
		},
		{
			ID: NearName, Title: "skills with almost the same name", Severity: w,
			Why: "Users and models confuse the two skills.",
			Fix: "choose names that show the difference",

			Bad: "-- skills/deploy-service/SKILL.md\n---\nname: deploy-service\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\nRoll it out.\n" +
				"-- skills/deployservice/SKILL.md\n---\nname: deployservice\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
			Good: "-- skills/deploy-service/SKILL.md\n---\nname: deploy-service\n" +
				"description: Rolls a service out. Use when asked to deploy.\n---\n\nRoll it out.\n" +
				"-- skills/rollback/SKILL.md\n---\nname: rollback\n" +
				"description: Takes a release back. Use when a rollout fails.\n---\n\nTake it back.\n",
		},
		{
			ID: Manifest, Title: "invalid skillpm.yaml", Severity: e,
			Why: "skillpm rejects the project or pack.",
			Fix: "print the schema with `skillpm schema manifest`",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: 1.0\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
		{
			ID: Lock, Title: "invalid skillpm.lock", Severity: e,
			Why: "skillpm cannot install packs from an invalid lockfile.",
			Fix: "restore skillpm.lock from version control, or delete it and run `skillpm install`",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				"-- skillpm.lock\nversion: 1\npacks: [acme/base]\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
		},
		{
			ID: LockDiffers, Title: "skillpm.lock does not match skillpm.yaml", Severity: w,
			Why: "`skillpm install --frozen` fails, and other users may install other versions.",
			Fix: "run `skillpm install` and commit skillpm.lock",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^2.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
		},
		{
			ID: Index, Title: "invalid index entry", Severity: e,
			Why: "Clients that read the entry reject the pack.",
			Fix: "print the schema with `skillpm schema index-line`",

			Bad: "-- registry-index/config.json\n{\"version\": 1}\n" +
				"-- registry-index/packs/90/42/acme/base.ndjson\n" +
				"{\"name\": \"acme/base\", \"version\": \"1.0" +
				baseEntry,
			Good: "-- registry-index/config.json\n{\"version\": 1}\n" +
				"-- registry-index/packs/90/42/acme/base.ndjson\n" +
				"{\"name\": \"acme/base\", \"version\": \"1.0.0" +
				baseEntry,
		},
		{
			ID: Policy, Title: "invalid policy", Severity: e,
			Why: "skillpm denies everything until it can read the policy.",
			Fix: "print the schema with `skillpm schema policy`",

			Bad: "-- policy.yaml\nversion: 1\nmode: strict\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
			Good: "-- policy.yaml\nversion: 1\nmode: enforce\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: PackCycle, Title: "dependency cycle", Severity: e,
			Why: "Each pack in the cycle requires another pack in the cycle, so skillpm cannot install any pack first.",
			Fix: "move the shared part to a separate pack",

			Bad: "-- deploy/skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: {path: ../base}\n" +
				"-- base/skillpm.yaml\nname: acme/base\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/deploy: {path: ../deploy}\n" +
				"-- deploy/deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
			Good: "-- deploy/skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: {path: ../base}\n" +
				"-- base/skillpm.yaml\nname: acme/base\nversion: \"1.0.0\"\n" +
				"-- deploy/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`.\n",
		},
		{
			ID: UnusedDependency, Title: "dependency that no skill mentions", Severity: a,
			Why: "Every user of this pack also installs the dependency. " +
				"Skills may use a dependency without naming it, so the finding is a note.",
			Fix: "remove the dependency if no skill needs it",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n" +
				baseLock,
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
		},
		{
			ID: Alias, Title: "alias for a missing skill", Severity: w,
			Why: "The alias refers to a skill that does not exist.",
			Fix: "correct the alias, or remove it",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\naliases: {first-steps: begin@acme/base}\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock,
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\ndependencies:\n" +
				"  acme/base: \"^1.0\"\naliases: {first-steps: base@acme/base}\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Use the skill `base@acme/base`, then roll it out.\n" +
				baseLock +
				"names:\n  base:\n    shadowed:\n      acme/base: first-steps\n",
		},
		{
			ID: SkillsGlob, Title: "pattern in skills: matches no skill", Severity: e,
			Why: "The pack does not contain a skill at a path that matches the pattern in its manifest.",
			Fix: "correct the pattern",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\nskills: [\"skill/*\"]\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\nskills: [\"skills/*\"]\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
		{
			ID: Baseline, Title: "invalid baseline", Severity: e,
			Why: "skillpm does not use a baseline that it cannot read completely.",
			Fix: "print the schema with `skillpm schema baseline`",

			Bad: "-- skillpm-baseline.yaml\nversion: 1\nfindings:\n" +
				"  - {rule: REF001, path: deploy/SKILL.md, digest: \"sha256:12\", reason: old}\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm-baseline.yaml\nversion: 1\nfindings: []\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
		{
			ID: OverBudget, Title: "list of skills exceeds the budget", Severity: e,
			Why: "An agent's model always reads the names and descriptions of all skills, and agents cut long lists. " +
				"`budget:` in skillpm.yaml or --budget sets the limit. Token counts are estimates.",
			Fix: "shorten the longest descriptions; show all costs with `skillpm budget --verbose`",

			Bad: "-- skillpm.yaml\nbudget: {claude-code: 10}\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm.yaml\nbudget: {claude-code: 100}\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
	}
}
