package pack

import (
	"context"
)

// Progress is told how far one transfer is: the bytes that have come so far, and how many there will be, 0 where nobody
// said. It is called from the goroutine that reads.
type Progress func(done, total int64)

type progressKey struct{}

// WithProgress returns a context in which transfers tell the meter how far they are.
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
