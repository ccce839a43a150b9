// Package evaluate measures skills with an agent: whether the agent activates a skill for a prompt, and whether its
// work is better with the skill than without it, or with the version before.
//
// A run gives one prompt to the headless mode of an agent, in a fresh copy of the fixture files. Graders decide whether
// the run passes. Each case runs several times, since agents are not deterministic. A [Report] holds the results of all
// runs; it is the JSON form, the baseline of later evaluations, and the input of all other forms.
//
// This package may change at any time.
package evaluate
