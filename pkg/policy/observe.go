package policy

import "time"

// ObservedAge is [Set.Age] of the policies that only observe: what they would refuse is noted.
func (s Set) ObservedAge(text string) (age time.Duration, by Rule) {
	for _, r := range s.Rules(text) {
		if r.Policy.Mode == Observe && r.MinReleaseAge > age {
			age, by = r.MinReleaseAge, r
		}
	}
	return age, by
}
