// Package evalfile reads the evaluation files of a skill, the JSON files in its evals directory.
//
// It reads the format of agentskills.io and its variants:
//
//   - evals.json has tasks for an agent, with assertions about the result. Its entries may also be trigger queries.
//   - Files whose names contain "trigger" or "queries", such as eval_queries.json, have trigger queries: prompts for
//     which an agent should activate the skill, or should not.
//
// An entry may have graders, which that format does not have: checks that need no model. They are read strictly. Other
// unknown fields are not errors, because programs that use these files add their own; [Suite.Notes] lists them.
//
// Start with [Read]. This package may change at any time.
package evalfile
