package pack

import "context"

type skillsKey struct{}

// WithSkills returns a context that says which skills of what is opened in it will be fetched; none means all of them.
// A source that can leave things out may then transfer only what is needed, and need not ask twice.
func WithSkills(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, skillsKey{}, names)
}

// SkillsOf returns what was said with [WithSkills], and whether anything was.
func SkillsOf(ctx context.Context) (names []string, known bool) {
	names, known = ctx.Value(skillsKey{}).([]string)
	return names, known
}
