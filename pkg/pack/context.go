package pack

import "context"

// Progress receives the number of bytes that a transfer has read, and their total, 0 if unknown. The goroutine that
// reads calls it.
type Progress func(done, total int64)

type progressKey struct{}

// WithProgress returns a context whose transfers report to a meter.
func WithProgress(ctx context.Context, m Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, m)
}

// ProgressFrom returns the meter of a context. It is never nil.
func ProgressFrom(ctx context.Context) Progress {
	if m, ok := ctx.Value(progressKey{}).(Progress); ok && m != nil {
		return m
	}
	return func(int64, int64) {}
}

type skillsKey struct{}

// WithSkills returns a context with the names of the skills that the caller will fetch from the packs it opens; none
// means all. A source that can transfer a part of a pack then transfers only these.
func WithSkills(ctx context.Context, names []string) context.Context {
	return context.WithValue(ctx, skillsKey{}, names)
}

// SkillsOf returns the names of [WithSkills], and whether the context has any.
func SkillsOf(ctx context.Context) (names []string, known bool) {
	names, known = ctx.Value(skillsKey{}).([]string)
	return names, known
}
