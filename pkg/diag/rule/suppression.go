package rule

// suppressionRules are the rules about comments and baselines that silence others.
func suppressionRules() []Rule {
	return []Rule{
		{
			ID: NoReason, Title: "suppression without a reason", Severity: w,
			Why: "Nobody can tell later whether it is still right. It does not count.",
			Fix: "write why after a colon: skillpm-ignore REF001: made at release",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF001 -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Unused, Title: "suppression of nothing", Severity: w,
			Why: "There is no such finding there any more, so it may hide a new one.",
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
			Why: "No rule has that id, so it suppresses nothing.",
			Fix: "see `skillpm rules`",

			Bad:  head + "See [the plan](plan.md). <!-- skillpm-ignore REF01: made at release -->\n",
			Good: head + "See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release -->\n",
		},
		{
			ID: Expired, Title: "suppression has expired", Severity: w,
			Why: "Its date has come, so the finding counts again.",
			Fix: "mend the finding, or give the suppression a new date",

			Bad: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-01-31 -->\n",
			Good: head +
				"See [the plan](plan.md). <!-- skillpm-ignore REF001: made at release until 2027-12-31 -->\n",
		},
	}
}
