//go:build unix

package task_test

import (
	"testing"

	"github.com/skillpm/skillpm/pkg/pack"
	"github.com/skillpm/skillpm/pkg/runtime/task"
)

// BenchmarkSubmit measures how long a submission takes. The tasks end by themselves.
func BenchmarkSubmit(b *testing.B) {
	s := benchStore(b)
	var last string
	for b.Loop() {
		t, err := s.Submit(b.Context(), task.Request{Body: "Do it."})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if last = t.ID; last != "" {
			_, err = s.Wait(b.Context(), last)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkList lists 200 finished tasks.
func BenchmarkList(b *testing.B) {
	s := benchStore(b)
	for range 200 {
		t, err := s.Submit(b.Context(), task.Request{Body: "Do it."})
		if err == nil {
			_, err = s.Wait(b.Context(), t.ID)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, problems, err := s.List(b.Context()); err != nil || len(problems) > 0 || len(list) != 200 {
			b.Fatal(len(list), problems, err)
		}
	}
}

func benchStore(b *testing.B) *task.Store {
	w := newFixture(b)
	w.runners[pack.DefaultRunner] = pack.Runner{Command: []string{"/bin/true"}}
	return w.Store
}
