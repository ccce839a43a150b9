package rule

// suppressionRules are the rules about comments and baselines that silence others.
func suppressionRules() []Rule {
	return []Rule{
		{
			ID: NoReason, Title: "suppression without a reason", Severity: w,
			Why: "Later readers cannot tell whether the suppression is still valid, so it is ignored.",
			Fix: "write the reason after a colon: skillpm-ignore REF001: made at release",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF001 -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Unused, Title: "unused suppression", Severity: w,
			Why: "The suppression matches no finding, so it could hide a new one.",
			Fix: "remove it",

			Bad: "-- deploy/SKILL.md\n" +
				head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n" +
				"-- deploy/plan.md\n# Plan\n",
			Good: "-- deploy/SKILL.md\n" +
				head + "See [the plan](plan.md).\n" +
				"-- deploy/plan.md\n# Plan\n",
		},
		{
			ID: UnknownRule, Title: "suppression of an unknown rule", Severity: w,
			Why: "No rule has this id, so it suppresses nothing.",
			Fix: "list the rules with `skillpm explain`",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF01: made at release -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Expired, Title: "suppression has expired", Severity: w,
			Why: "Its date has passed, so the finding is reported again.",
			Fix: "fix the finding, or set a new date",

			Bad: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-01-31 -->\n",
			Good: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-12-31 -->\n",
		},
	}
}
