package rule

// policyRules are the rules of `validate --policy`. Their examples have the policy with them.
func policyRules() []Rule {
	const (
		plain   = "-- deploy/SKILL.md\n" + head + "Do it.\n"
		scripts = "-- deploy/SKILL.md\n" + head +
			"Run `scripts/go.sh`.\n-- deploy/scripts/go.sh 755\n#!/bin/sh\necho go\n"
		file = "-- skillpm-policy.yaml\nversion: 1\n"
	)
	return []Rule{
		{
			ID: DeniedSkill, Title: "skill that a policy denies", Severity: e,
			Why: "By its name it may not be installed or used where the policy is in force.",
			Fix: "give it another name, or ask whoever keeps the policy",

			Bad:  plain + file + "skills: {deny: [deploy]}\n",
			Good: plain + file + "skills: {deny: [undeploy]}\n",
		},
		{
			ID: OverLimit, Title: "skill that is larger than a policy allows", Severity: e,
			Why: "It may not be installed or used where the policy is in force.",
			Fix: "leave out what the skill does not need, or split it",

			Bad:  scripts + file + "limits: {files: 1}\n",
			Good: scripts + file + "limits: {files: 2}\n",
		},
		{
			ID: ForbiddenCapability, Title: "capability that a policy forbids", Severity: e,
			Why: "With it the skill may not be installed or used where the policy is in force, and nobody can " +
				"approve it.",
			Fix: "do without it, or ask whoever keeps the policy",

			Bad:  scripts + file + "forbid: [scripts]\n",
			Good: plain + file + "forbid: [scripts]\n",
		},
		{
			ID: FailsPolicy, Title: "finding that a policy refuses", Severity: e,
			Why: "With such a finding, suppressed or not, the skill may not be installed or used where the policy " +
				"is in force.",
			Fix: "mend the finding",

			Bad:  scripts + file + "lint: {fail_on: [SEC201]}\n",
			Good: plain + file + "lint: {fail_on: [SEC201]}\n",
		},
		{
			ID: NeedsApproval, Title: "capability that needs an approval", Severity: w, Capability: true,
			Why: "The skill is not installed or used before somebody has approved it, and approved it anew " +
				"whenever one of its files changes.",
			Fix: "`skillpm approve` shows what it is able to do, and approves it",

			Bad:  scripts + file + "approve: [scripts]\n",
			Good: plain + file + "approve: [scripts]\n",
		},
	}
}
