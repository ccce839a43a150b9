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
			ID: DeniedSkill, Title: "skill denied by a policy", Severity: e,
			Why: "The policy does not allow this name, so skillpm does not install or load the skill.",
			Fix: "rename the skill, or ask the owner of the policy",

			Bad:  plain + file + "skills: {deny: [deploy]}\n",
			Good: plain + file + "skills: {deny: [undeploy]}\n",
		},
		{
			ID: OverLimit, Title: "skill exceeds a size limit of a policy", Severity: e,
			Why: "skillpm does not install or load the skill while the policy is in effect.",
			Fix: "remove files that the skill does not need, or split the skill",

			Bad:  scripts + file + "limits: {files: 1}\n",
			Good: scripts + file + "limits: {files: 2}\n",
		},
		{
			ID: ForbiddenCapability, Title: "capability denied by a policy", Severity: e,
			Why: "skillpm does not install or load the skill while the policy is in effect, even with an approval.",
			Fix: "remove the capability, or ask the owner of the policy",

			Bad:  scripts + file + "forbid: [scripts]\n",
			Good: plain + file + "forbid: [scripts]\n",
		},
		{
			ID: FailsPolicy, Title: "finding denied by a policy", Severity: e,
			Why: "skillpm does not install or load a skill with such a finding, even if the skill suppresses the finding.",
			Fix: "fix the finding",

			Bad:  scripts + file + "lint: {fail_on: [SEC201]}\n",
			Good: plain + file + "lint: {fail_on: [SEC201]}\n",
		},
		{
			ID: NeedsApproval, Title: "capability that requires an approval", Severity: w, Capability: true,
			Why: "skillpm does not install or load the skill until you approve it. " +
				"Every change to the skill's files requires a new approval.",
			Fix: "review and approve the skill's capabilities with `skillpm approve`",

			Bad:  scripts + file + "approve: [scripts]\n",
			Good: plain + file + "approve: [scripts]\n",
		},
	}
}
