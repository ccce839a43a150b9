package rule

// suppressionRules are the rules about comments and baselines that silence others.
func suppressionRules() []Rule {
	return []Rule{
		{
			ID: NoReason, Title: "suppression without a reason", Severity: w,
			Why: "skillpm ignores a suppression without a reason. " +
				"The reason shows later readers whether the suppression is still valid.",
			Fix: "write the reason after a colon: skillpm-ignore REF001: made at release",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF001 -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Unused, Title: "unused suppression", Severity: w,
			Why: "The suppression does not match a finding, so it could hide a new finding.",
			Fix: "remove the suppression",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n" +
				"-- deploy/plan.md\n# Plan\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the plan](plan.md).\n" +
				"-- deploy/plan.md\n# Plan\n",
		},
		{
			ID: UnknownRule, Title: "suppression of an unknown rule", Severity: w,
			Why: "No rule has this id, so the suppression does not have an effect.",
			Fix: "list the rules with `skillpm explain`",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF01: made at release -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Expired, Title: "suppression has expired", Severity: w,
			Why: "The date of the suppression has passed, so skillpm reports the finding again.",
			Fix: "fix the finding, or set a new date",

			Bad: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-01-31 -->\n",
			Good: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-12-31 -->\n",
		},
	}
}
