// Package budget computes what a skill costs a model: the part of its description that does not help, its instructions,
// and its files. Token counts are estimates (package tokens). [prompt.Native] computes the cost of a list of skills.
//
// Start reading at [SkillCost] and [FindWaste].
package budget
