package rule

// skillRules are the rules about references from one skill to another.
var skillRules = []Rule{
	{
		ID: UnknownSkill, Title: "skill that does not exist", Severity: w,
		Why: "The text tells the agent to use a skill that is neither here nor installed, so it searches in vain.",
		Fix: "correct the name, or say where the skill comes from",
	},
	{
		ID: SkillCycle, Title: "skills refer to each other in a circle", Severity: w,
		Why: "Each of them tells the agent to load the next one; skillpm and some hosts stop at the repetition.",
		Fix: "let one of them go without the others",
	},
	{
		ID: UndeclaredPack, Title: "skill of a pack that is not required", Severity: w,
		Why: "The pack is not among the dependencies, so the skill is missing where only this one is installed.",
		Fix: "add the pack to dependencies: in skillpm.yaml",
	},
}
