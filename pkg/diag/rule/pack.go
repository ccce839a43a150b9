package rule

// packRules are the rules about several skills together, and the files that describe packs.
func packRules() []Rule {
	return []Rule{
		{
			ID: SameName, Title: "two skills of one name", Severity: e,
			Why: "Only one of them can be installed. Outside of a pack, where the two may be meant for different " +
				"places, it is a warning.",
			Fix: "rename one of them",

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
			ID: SameDescribe, Title: "two skills of one description", Severity: w,
			Why: "The model chooses by the description and cannot tell them apart.",
			Fix: "say in each what the other does not do",

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
			ID: NearDescription, Title: "two skills of nearly one description", Severity: w,
			Why: "The model chooses by the description and can hardly tell them apart.",
			Fix: "say in each what the other does not do",

			Bad: "-- skills/deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out to one region after the other and waits until every node is " +
				"ready. Use when asked to deploy a service.\n" +
				"---\n\nRoll it out.\n" +
				"-- skills/deploy-all/SKILL.md\n---\nname: deploy-all\n" +
				"description: Rolls a service out to one region after the other and waits until every node is " +
				"ready. Use when asked to deploy a service again.\n" +
				"---\n\nRoll all out.\n",
			Good: "-- skills/deploy/SKILL.md\n---\nname: deploy\n" +
				"description: Rolls a service out to one region after the other and waits until every node is " +
				"ready. Use when asked to deploy a service.\n" +
				"---\n\nRoll it out.\n" +
				"-- skills/deploy-all/SKILL.md\n---\nname: deploy-all\n" +
				"description: Deploys all services of a stack in the order of their dependencies. Use when a stack " +
				"is new.\n" +
				"---\n\nRoll all out.\n",
		},
		{
			ID: NearName, Title: "two skills of nearly one name", Severity: w,
			Why: "People and models mistake one for the other.",
			Fix: "choose names that say what differs",

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
			Why: "skillpm refuses the project or pack.",
			Fix: "see `skillpm schema manifest`",

			Bad: "-- skillpm.yaml\nname: acme/deploy\nversion: 1.0\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm.yaml\nname: acme/deploy\nversion: \"1.0.0\"\n" +
				"-- skills/deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
		{
			ID: Lock, Title: "invalid skillpm.lock", Severity: e,
			Why: "skillpm refuses to install from it.",
			Fix: "restore it from version control, or delete it and run `skillpm install`",

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
			Why: "`skillpm install --frozen` fails, and others get something else than you.",
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
			Why: "Clients that read the entry refuse the pack.",
			Fix: "see `skillpm schema index-line`",

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
			Why: "A policy that cannot be read denies everything.",
			Fix: "see `skillpm schema policy`",

			Bad: "-- policy.yaml\nversion: 1\nmode: strict\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
			Good: "-- policy.yaml\nversion: 1\nmode: enforce\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll the service out.\n",
		},
		{
			ID: PackCycle, Title: "packs depend on each other in a circle", Severity: e,
			Why: "None of them can be installed before the others.",
			Fix: "move what they share into a pack of its own",

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
			ID: UnusedDependency, Title: "dependency that no skill refers to", Severity: a,
			Why: "It is installed for everybody who installs this pack. Skills may use it without naming it, so " +
				"this is advice.",
			Fix: "remove it if nothing needs it",

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
			ID: Alias, Title: "alias for a skill that is not there", Severity: w,
			Why: "The alias names nothing.",
			Fix: "correct it, or remove it",

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
			ID: SkillsGlob, Title: "skills: matches nothing", Severity: e,
			Why: "The pack has no skills at the places that its manifest names.",
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
			Why: "skillpm refuses to check against a baseline that it cannot read whole.",
			Fix: "see `skillpm schema baseline`",

			Bad: "-- skillpm-baseline.yaml\nversion: 1\nfindings:\n" +
				"  - {rule: REF001, path: deploy/SKILL.md, digest: \"sha256:12\", reason: old}\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
			Good: "-- skillpm-baseline.yaml\nversion: 1\nfindings: []\n" +
				"-- deploy/SKILL.md\n" +
				head + "Roll it out.\n",
		},
	}
}
