package rule

// packRules are the rules about several skills together, and the files that describe packs.
var packRules = []Rule{
	{
		ID: SameName, Title: "two skills of one name", Severity: e,
		Why: "Only one of them can be installed. Outside of a pack, where the two may be meant for different places, it is a warning.",
		Fix: "rename one of them",
	},
	{
		ID: SameDescribe, Title: "two skills of one description", Severity: w,
		Why: "The model chooses by the description and cannot tell them apart.",
		Fix: "say in each what the other does not do",
	},
	{
		ID: NearDescription, Title: "two skills of nearly one description", Severity: w,
		Why: "The model chooses by the description and can hardly tell them apart.",
		Fix: "say in each what the other does not do",
	},
	{
		ID: NearName, Title: "two skills of nearly one name", Severity: w,
		Why: "People and models mistake one for the other.",
		Fix: "choose names that say what differs",
	},
	{
		ID: Manifest, Title: "invalid skillpm.yaml", Severity: e,
		Why: "skillpm refuses the project or pack.",
		Fix: "see `skillpm schema manifest`",
	},
	{
		ID: Lock, Title: "invalid skillpm.lock", Severity: e,
		Why: "skillpm refuses to install from it.",
		Fix: "restore it from version control, or delete it and run `skillpm install`",
	},
	{
		ID: LockDiffers, Title: "skillpm.lock does not match skillpm.yaml", Severity: w,
		Why: "`skillpm install --frozen` fails, and others get something else than you.",
		Fix: "run `skillpm install` and commit skillpm.lock",
	},
	{
		ID: Index, Title: "invalid index entry", Severity: e,
		Why: "Clients that read the entry refuse the pack.",
		Fix: "see `skillpm schema index-line`",
	},
	{
		ID: Policy, Title: "invalid policy", Severity: e,
		Why: "A policy that cannot be read denies everything.",
		Fix: "see `skillpm schema policy`",
	},
	{
		ID: PackCycle, Title: "packs depend on each other in a circle", Severity: e,
		Why: "None of them can be installed before the others.",
		Fix: "move what they share into a pack of its own",
	},
	{
		ID: UnusedDependency, Title: "dependency that no skill refers to", Severity: a,
		Why: "It is installed for everybody who installs this pack. Skills may use it without naming it, so this is advice.",
		Fix: "remove it if nothing needs it",
	},
	{
		ID: Alias, Title: "alias for a skill that is not there", Severity: w,
		Why: "The alias names nothing.",
		Fix: "correct it, or remove it",
	},
	{
		ID: SkillsGlob, Title: "skills: matches nothing", Severity: e,
		Why: "The pack has no skills at the places that its manifest names.",
		Fix: "correct the pattern",
	},
}
